// Package hls implements the hub's HLS origin. Encoders upload segments and playlists over HTTP with the key of their stream.
// Viewers download the segments and the playlists that the origin writes. Clips consist of segments of the last minutes. The
// package does not transcode video. It only makes thumbnails of clips, if ffmpeg is installed.
//
// The origin never serves an uploaded playlist. It parses each playlist and writes a new one with the segments that it has
// stored. A playlist therefore cannot lead a viewer to another server. The origin stores each segment under a new file name,
// so the content of a segment name never changes.
//
// One process at a time owns the directory. The state is stored in the directory and survives a restart.
package hls
