# Image with one static binary and the trusted certificates. build.sh prepares the
# folder; the build downloads nothing.
ARG BASE=scratch
FROM ${BASE}
ARG BINARY
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY ${BINARY} /service
# Directory for video of the hub. A volume that is mounted here gets its owner.
COPY --chown=65532:65532 video /video
USER 65532:65532
ENTRYPOINT ["/service"]
CMD ["serve"]
