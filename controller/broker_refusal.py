"""What to do about a broker that lets somebody not in: the table's service and the displays log it alike."""

from typing import Final

# "Bad user name or password" and "not authorised" of MQTT 3.1.1, and as the client library translates them to MQTT 5.
_NOT_LET_IN: Final = frozenset({4, 5, 134, 135})


def advice_on(error: BaseException) -> dict[str, str]:
    """The `hint` for the log entry of an error of the MQTT client; nothing where the broker did not refuse the user."""
    code = getattr(error, "rc", None)
    if getattr(code, "value", code) not in _NOT_LET_IN:
        return {}
    return {
        "hint": "the broker does not let this user in: set username and password_file in [mqtt], and give the broker's "
        "password file (mosquitto_passwd) and ACL that user"
    }
