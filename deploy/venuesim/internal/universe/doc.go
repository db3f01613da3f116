// Package universe invents markets from a seed and the time of day, and
// nothing else: two simulators with one seed agree on every question, price
// and outcome at every moment, and a finished market can be read for ever
// although none is stored. Each place in the universe holds one event at a
// time; when its markets end, the next event takes the place.
package universe
