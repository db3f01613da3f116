package universe

import "math"

// dice is a small stream of numbers fixed by its seed: the same questions come
// out on every machine and with every Go version.
type dice struct{ state uint64 }

func mix(parts ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, p := range parts {
		h ^= p + 0x9e3779b97f4a7c15 + h<<6 + h>>2
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

func roll(parts ...uint64) *dice { return &dice{state: mix(parts...)} }

func (d *dice) next() uint64 {
	d.state += 0x9e3779b97f4a7c15
	return mix(d.state)
}

// unit is within 0 and 1, never 1.
func (d *dice) unit() float64 { return float64(d.next()>>11) / (1 << 53) }

func (d *dice) below(n int) int { return int(d.next() % uint64(n)) }

func (d *dice) between(lo, hi int) int { return lo + d.below(hi-lo+1) }

func (d *dice) chance(p float64) bool { return d.unit() < p }

func (d *dice) of(words []string) string { return words[d.below(len(words))] }

// pair gives two different words.
func (d *dice) pair(words []string) (a, b string) {
	i := d.below(len(words))
	j := (i + 1 + d.below(len(words)-1)) % len(words)
	return words[i], words[j]
}

// some gives n different words.
func (d *dice) some(words []string, n int) []string {
	out := append([]string(nil), words...)
	for i := range n {
		j := i + d.below(len(out)-i)
		out[i], out[j] = out[j], out[i]
	}
	return out[:n]
}

// pareto is heavy-tailed: most draws are small, a few are enormous.
func (d *dice) pareto(least, shape, most float64) float64 {
	return math.Min(least/math.Pow(1-d.unit(), 1/shape), most)
}
