"""The page for the pit, to print: the addresses of the table, who works there, and what to do if something is wrong."""

from html import escape

from punto.commands.setup.answers import Answers, PagesAnswer


def address_of(pages: PagesAnswer, *, tls: bool) -> str:
    """The address of pages in a browser."""
    return f"{'https' if tls else 'http'}://{pages.host}:{pages.port}"


def rows_of(answers: Answers) -> dict[str, str]:
    """What the page for the pit says. It has no password and no key."""
    console = address_of(answers.console, tls=not answers.console.on_loopback)
    rows = {
        "Dealer": f"{console}/dealer",
        "Supervisor": f"{console}/supervisor",
        "Display": address_of(answers.display, tls=False),
        "People": "; ".join(f"{name}: {', '.join(roles)}" for name, roles in answers.people.items()),
        "If something is wrong": f"sudo punto doctor /etc/punto/{answers.table}.toml /etc/punto-display/{answers.table}.toml",
        "To change an answer": f"sudo punto setup --table {answers.table}",
    }
    if not answers.console.on_loopback:
        rows["Certificate"] = (
            f"Put /etc/punto/{answers.table}.pem among the authorities of each tablet, so that its browser trusts the pages."
        )
    return rows


def pit_page(answers: Answers) -> str:
    """The page, in HTML that a browser prints on one sheet."""
    body = "\n".join(
        f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows_of(answers).items()
    )
    return f"""\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{escape(answers.name)}</title>
<style>
body {{ font: 14pt/1.5 serif; margin: 2cm }}
h1 {{ font-size: 28pt; margin: 0 0 1cm }}
table {{ border-collapse: collapse }}
th, td {{ border-top: 1px solid; padding: .3cm .6cm .3cm 0; text-align: left; vertical-align: top }}
td {{ font-family: monospace; overflow-wrap: anywhere }}
</style>
<h1>{escape(answers.name)}</h1>
<table>
{body}
</table>
</html>
"""
