"""The roads as a person keeps them by hand: one mark at a time, on squared paper.

Written from the printed custom, not from `punto.baccarat.roads`, and in another manner: a shoe is a string of letters
(B, P, T), a sheet of paper is a dict from (row, col) to a mark, and a derived colour comes from looking at the squares
beside the one just marked. Slow, and meant to be.
"""

import re
from itertools import count

# The column to the left that each derived road looks at.
LOOKS_BACK = {"big_eye_boy": 1, "small_road": 2, "cockroach_pig": 3}

Paper = dict[tuple[int, int], str]


def entries(shoe: str) -> list[str]:
    """The big road's entries: each decided round's letter followed by the ties marked on it."""
    marked = re.findall("[BP]T*", shoe)
    if marked:
        # Ties before the first decided round wait for its cell.
        marked[0] += "T" * (len(shoe) - len(shoe.lstrip("T")))
    return marked


def streaks(shoe: str) -> list[list[str]]:
    """The big road's entries by column."""
    columns: list[list[str]] = []
    for entry in entries(shoe):
        if columns and columns[-1][-1][0] == entry[0]:
            columns[-1].append(entry)
        else:
            columns.append([entry])
    return columns


def colors(shoe: str, road: str) -> list[str]:
    """A derived road's colours in order, each read off endless paper when its round is marked.

    Below the top row: the square `back` columns to the left and the square above that one are alike (both marked, or both
    bare): red; one marked and one bare: blue. In the top row: the colour that the column just ended would *not* have got by
    going on.
    """
    back = LOOKS_BACK[road]
    paper: Paper = {}
    found = []
    row = col = 0

    def beside(at_row: int, at_col: int) -> str:
        left = at_col - back
        alike = ((at_row, left) in paper) == ((at_row - 1, left) in paper)
        return "red" if alike else "blue"

    for letter in shoe.replace("T", ""):
        if not paper:
            row = col = 0
        elif paper[row, col] == letter:
            row += 1
            if col - back >= 0:
                found.append(beside(row, col))
        else:
            if col - back >= 0:
                found.append("blue" if beside(row + 1, col) == "red" else "red")
            row, col = 0, col + 1
        paper[row, col] = letter
    return found


def runs(marks: list[str]) -> list[list[str]]:
    """Equal neighbours put into one column."""
    columns: list[list[str]] = []
    for n, mark in enumerate(marks):
        if n == 0 or marks[n - 1] != mark:
            columns.append([])
        columns[-1].append(mark)
    return columns


def next_color(shoe: str, letter: str, road: str) -> str | None:
    """The colour a derived road gets if `letter` comes next: play it and see."""
    before, after = colors(shoe, road), colors(shoe + letter, road)
    return after[-1] if len(after) > len(before) else None


def turned(depths: list[int]) -> list[tuple[int, int]]:
    """Where each mark goes on six rows, a tail staying in its row: a straight drop, then a straight tail."""
    paper: Paper = {}
    places = []
    last_head = -1
    for depth in depths:
        head = next(col for col in count(last_head + 1) if (0, col) not in paper)
        bare = [(row, head) not in paper for row in range(6)]
        drop = bare.index(False) if False in bare else 6
        for n in range(depth):
            place = (n, head) if n < drop else (drop - 1, head + n - drop + 1)
            paper[place] = "x"
            places.append(place)
        last_head = head
    return places


def fallen(depths: list[int]) -> list[tuple[int, int]]:
    """Where each mark goes on six rows, a tail going down again where the square below is bare."""
    # The frame is a seventh row, marked all along.
    paper: Paper = {(6, col): "frame" for col in range(sum(depths) + len(depths))}
    places = []
    last_head = -1
    for depth in depths:
        row, col = -1, next(col for col in count(last_head + 1) if (0, col) not in paper)
        last_head = col
        for _ in range(depth):
            row, col = (row, col + 1) if (row + 1, col) in paper else (row + 1, col)
            paper[row, col] = "x"
            places.append((row, col))
    return places


def streak(shoe: str) -> tuple[str, int] | None:
    """Who has won the last decided rounds, and how many; ties are passed over."""
    tail = re.search("(B+|P+)$", shoe.replace("T", ""))
    return (tail[0][0], len(tail[0])) if tail else None


def plate(shoe: str) -> list[str]:
    """The bead plate's columns of six."""
    return re.findall(".{1,6}", shoe)
