// Package hls is our own HLS origin. Encoders put segments and playlists to it over
// HTTP with the key of their stream, viewers get them, and clips are cut from what is
// kept of the last minutes. Nothing is decoded or encoded here but the still picture of
// a clip, by ffmpeg, where there is one.
//
// What an encoder calls its files is never the name of a file here, and no playlist is
// served as it came: each is read, and written anew from what is known to be here. So
// nothing in it can lead a viewer elsewhere, and a segment never changes under its name.
//
// One process owns the directory. Its state survives the process.
package hls
