"""A notebook as a script: run it whole, or cell by cell in an editor that supports `# %%`. It needs punto[lab]."""

# %% Score a coup
import punto

game = punto.load_game("dragon-bonus-1")
scored = punto.score(game, ["9S", "KD", "3H", "4C", "8D"], [(1, "player", 2500), (1, "tie", 500)])
print(scored.coup.winner.value, scored.coup.player_total, scored.coup.banker_total)
for settlement in scored.settlements:
    print(f"  seat {settlement.seat} {settlement.wager}: {settlement.outcome}, net {settlement.net} cents")

# %% The exact odds of every wager, in a full shoe and without its eights and nines
full = punto.exact_odds(game)
without = punto.exact_odds(game, removed=[rank + suit for rank in "89" for suit in "SHDC" for _ in range(8)])
print(f"{'wager':<20} {'full shoe':>10} {'no 8, 9':>10}")
for name, odds in full.items():
    print(f"{name:<20} {float(odds.edge):>10.4%} {float(without[name].edge):>10.4%}")

# %% What does a tie that pays 9 to 1 cost the house?
tie = full["tie"]
print(f"tie at 8 to 1: {float(tie.edge):.4%}, at 9 to 1: {float(tie.edge - tie.hit):.4%}")

# %% A million simulated rounds
tally = punto.simulate(game, 1_000_000, seed=1)
print(f"{tally.rounds:,} rounds")

# %% The roads of a shoe
board = punto.roads(["banker", "banker", "player", "tie", "banker", "banker", "banker", "player"])
for row in range(6):
    cells = {cell.col: str(cell.winner)[0].upper() for cell in board.big_road.cells if cell.row == row}
    if cells:
        print(" ".join(cells.get(column, ".") for column in range(max(cells) + 1)))
