// Package hosting implements ingest providers for the video hosts Livepeer Studio and Mux. The host receives the video
// from the encoder and serves it to viewers. This package creates streams with keys there. A key is returned once; the
// hub stores only its hash.
package hosting
