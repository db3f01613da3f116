package program

import "slices"

// Channel is what readers of the feed follow: a preset, or one content lane of it.
type Channel struct {
	Name   string // program:<preset>[:<LANE>]
	Preset Preset
	Lanes  []Lane // of the content lane; empty: the one that ranks highest
}

// Channels lists every channel: each preset, alone and with each content lane.
func Channels() []Channel {
	var out []Channel
	for _, p := range Presets {
		out = append(out, Channel{Name: p.feed(), Preset: p})
		var done []Lane
		for _, row := range laneTable {
			if slices.Contains(done, row.lane) {
				continue
			}
			c := Channel{Name: row.lane.feed(p), Preset: p}
			for _, other := range laneTable {
				if other.content == row.content {
					c.Lanes = append(c.Lanes, other.lane)
				}
			}
			done = append(done, c.Lanes...)
			out = append(out, c)
		}
	}
	return out
}

// feed is the channel of the preset.
func (p Preset) feed() string { return "program:" + string(p) }

// feed is the channel of the lane's content lane in a preset.
func (l Lane) feed(p Preset) string { return p.feed() + ":" + string(laneTable[l.index()].content) }
