// Package clip creates short clips of live streams. It enforces limits on requests, stores each request, and processes stored
// requests even after a crash. A Maker or a video host (Host) cuts the video; this package does not read video files. It reports
// the number of clips (tapes) of each market to the ledger.
package clip
