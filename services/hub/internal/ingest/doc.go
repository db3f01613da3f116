// Package ingest gives approved operators a place to send their video to: a stream
// with a key, at our own origin, behind an RTMP server in front of it, or at a host of
// others. It knows who may send with which key, and where viewers find what was sent.
// It knows no file, no network and no clip.
package ingest
