"""The service's configuration: one TOML file a table.

```toml
version = 1

[table]
id = "table-1"
name = "Baccarat 1"
game = "dragon-bonus-1"    # the name of a game that ships with punto, or a game file's path

[limits.player]            # the house's limits of a wager, within those of the game file
minimum = 2500
maximum = 500000
step = 100

[shoe]                     # not when cards = "keyed"
port = "/dev/serial/by-id/usb-..."

[record]
path = "/var/lib/punto/table-1.db"

[mqtt]                     # without it nothing is published
host = "127.0.0.1"

[accounts]                 # without it nobody can give a supervisor's order
path = "/var/lib/punto/operators.db"

[operator]                 # without it there is no local socket
socket = "/run/punto/table-1.sock"

[edge]                     # without it nobody is told the edges of the shoe in play
alarm = "1%"

[keypad]                   # the dealer's; without it there is none
port = "/dev/serial/by-id/usb-..."

[configuration_keypad]     # the score display's, which must not be there in play
path = "/dev/input/by-id/usb-..."

[console]                  # without it there are no consoles
port = 8090

[progressive]              # without it the table has none
id = "dragon"

[coin_spot]                # its wager sensors; without them a dealer keys the seats that have a wager
port = "/dev/serial/by-id/usb-..."
seats = [1, 2, 3, 4, 5, 6, 7]

[card_reader]              # for Supervisor and Executive cards (Nexus Command)
port = "/dev/serial/by-id/usb-..."
```

Relative paths are relative to the file's folder.
"""
