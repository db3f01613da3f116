// Package docs embeds the pages of this folder, so that the hub can serve them and `make docs` can write them.
// Package guide renders them.
package docs
