// Package ingest provisions streams to which approved operators send video: at the hub's HLS origin, at an RTMP server
// that feeds the origin, or at an external video host. It checks stream keys and returns the playback URLs. It does not
// handle video itself.
package ingest
