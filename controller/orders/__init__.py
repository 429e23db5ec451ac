"""The order desk: roles, signatures and approvals of orders, and the local socket that accepts orders."""
