# LiteLLM Proxy with the hook: docker build -f deploy/proxy.Dockerfile -t ctxcore-proxy .
# An image of its own, since the proxy pins other versions of some packages.
FROM python:3.13-slim

WORKDIR /source
COPY . .
RUN pip install --no-cache-dir ".[proxy,postgres]" \
    && rm -rf /source/* \
    && useradd --create-home ctxcore

USER ctxcore
WORKDIR /home/ctxcore
ENV PYTHONUNBUFFERED=1
EXPOSE 4000
CMD ["litellm", "--config", "/etc/litellm.yaml", "--host", "0.0.0.0", "--port", "4000"]
