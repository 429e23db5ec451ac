# The image of compose.yaml: Punto as docs/how-to/install.md installs it on a table PC, by the hashes of table.lock.
FROM python:3.12-slim-bookworm
WORKDIR /src
# requirements.lock also has what the Game Manager of a house needs (deploy/compose.yaml).
ARG LOCK=table
COPY locks/$LOCK.lock .
RUN pip install --no-cache-dir --require-hashes -r $LOCK.lock
COPY . .
RUN pip install --no-cache-dir --no-deps --no-build-isolation . \
 && useradd --system punto \
 && install -d -o punto -m 0750 /var/lib/punto
USER punto
# A volume here begins with this folder's owner.
WORKDIR /var/lib/punto
CMD ["punto", "--help"]
