# One static binary and the certificates it trusts. build.sh prepares the
# folder; nothing is fetched here.
ARG BASE=scratch
FROM ${BASE}
ARG BINARY
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY ${BINARY} /service
# Where the hub keeps video; a volume mounted here takes its owner over.
COPY --chown=65532:65532 video /video
USER 65532:65532
ENTRYPOINT ["/service"]
CMD ["serve"]
