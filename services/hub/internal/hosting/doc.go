// Package hosting implements ingest providers for the video hosts Livepeer Studio and Mux. Such a host receives the video from
// the encoder and serves it to viewers. This package creates the streams and their keys at the host. A key is returned once; the
// hub stores only its hash.
package hosting
