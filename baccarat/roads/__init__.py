"""The five roads of a score display and what stands around them. Pure: each is a function of the shoe's rounds.

Rounds and what is counted of them are in `rounds`, the bead plate, big road and derived roads in a module each, the six-row
grid that they are drawn on in `drawing`, and all of it together, for one display, in `scoreboard`.
"""
