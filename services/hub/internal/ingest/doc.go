// Package ingest provisions streams to which approved operators send video. A stream is at the hub's HLS origin, at an RTMP
// server that feeds the origin, or at an external video host. The package checks stream keys and returns playback URLs. It does
// not handle video itself.
package ingest
