# One static binary and the certificates it trusts. build.sh prepares the
# folder; nothing is fetched here.
ARG BASE=scratch
FROM ${BASE}
ARG BINARY
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY ${BINARY} /service
USER 65532:65532
ENTRYPOINT ["/service"]
CMD ["serve"]
