// Package card draws share images of calls, markets and operators. An image is 1200 x 630 pixels, as SVG or PNG with the same
// layout. All texts are treated as untrusted input.
package card
