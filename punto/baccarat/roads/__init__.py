"""The five roads of a score display, its ask marks and counts. Pure: each is a function of the shoe's rounds.

`rounds` has the rounds and their counts; the bead plate, big road and derived roads have a module each;
`drawing` has the six-row grid; `scoreboard` combines all of them for one display.
"""
