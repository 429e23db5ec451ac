#!/bin/sh
# A table of compose.yaml with a virtual shoe: table.sh ID CONSOLE_PORT. It keeps everything in the working directory, and
# its broker is on the loopback at BROKER_PORT. BROKER_LOGIN has further lines of [mqtt].
set -eu
cat > table.toml <<END
version = 1

[table]
id = "$1"
name = "Baccarat ${1#table-}"
game = "dragon-bonus-1"
simulation = true

[shoe]
port = "shoe"

[record]
path = "table.db"

[mqtt]
port = $BROKER_PORT
${BROKER_LOGIN:-}

[operator]
socket = "operator.sock"

[accounts]
path = "operators.db"

[console]
port = $2
END

as() {
    punto operator --wait --config table.toml --as "$1" "$2" < password
}

punto shoe --link shoe --seed "$1" --pace 1 --between 5 --quiet &
if [ ! -e password ]; then
    umask 077
    head -c 12 /dev/urandom | base64 > password
    for role in dealer supervisor; do
        punto operators --config table.toml add "$role" --role "$role" < password
    done
    # The first shoe; the next ones are loaded at the console.
    (as supervisor sign-on && as supervisor change-shoe) &
fi
echo "Consoles of $1: http://127.0.0.1:$2/ as dealer or supervisor, password $(cat password)"
exec punto run --config table.toml
