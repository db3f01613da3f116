// Package docs holds the guides of this folder as bytes, so that the hub can show them
// and `make docs` can write them. It knows nothing of how they look; that is package guide.
package docs
