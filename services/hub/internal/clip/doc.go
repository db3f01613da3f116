// Package clip creates short clips of live streams: the limits of requests, and the processing of stored requests, also
// after a crash. A Maker cuts the video; this package does not read video files.
package clip
