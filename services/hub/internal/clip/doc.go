// Package clip cuts short pieces out of live streams: who may have one and how often,
// and what becomes of it, ready or failed, also when a process dies in between. It
// decodes and encodes nothing and knows no file; a Maker does the cutting.
package clip
