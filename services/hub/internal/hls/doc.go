// Package hls implements the hub's HLS origin. Encoders upload segments and playlists over HTTP with the key of their
// stream. Viewers download them, and clips are cut from the last minutes. The package does not transcode video. It only
// makes thumbnails of clips, if ffmpeg is installed.
//
// The origin stores uploads under its own file names and never serves an uploaded playlist. It parses each playlist and writes a
// new one with the segments that it has stored. A playlist therefore cannot lead a viewer to another server, and the content
// under a name never changes.
//
// One process at a time owns the directory. The state is stored in the directory and survives a restart.
package hls
