package categorise

import (
	"slices"
	"strings"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// entry contains the keywords of one lane as comma-separated lists. tags are tags of venues; the other lists contain words of
// titles. Strong words have the greatest weight, faint words the smallest. A word may belong to several lanes.
type entry struct {
	lane                              protocol.Lane
	tags, strong, plain, names, faint string
}

// Weights of the keywords in a title. A name has the weight of a plain word.
const (
	strongWeight = 5
	plainWeight  = 3
	faintWeight  = 1
)

// lanes contains the entries of narrow and broad in order of precedence.
var lanes = slices.Concat(narrow, broad)

var categories = map[protocol.Lane]string{
	protocol.LaneSport: Sports, protocol.LaneMusic: Music, protocol.LaneCrypto: Crypto, protocol.LanePolitics: Politics,
	protocol.LaneWorld: News, protocol.LaneScience: Science, protocol.LaneTech: Tech, protocol.LaneEconomy: Economy,
}

var (
	tvWords = set(`tv, television, series, season, episode, show, sitcom, netflix, hbo, hulu, emmy, emmys, reality show, tv show,
		tv series, streaming, renewed, finale, late night, late show, talk show, survivor, big brother, love island, bachelor,
		bachelorette, soap opera, snl, saturday night live, jeopardy, dancing with the stars, american idol, game of thrones,
		stranger things, squid game, white lotus, miniseries, showrunner, broadcast, broadcasting, channel, colbert, kimmel, fallon`)
	fashionWords = set(`fashion, runway, couture, met gala, vogue, designer, creative director, fashion week, fashion house, gala,
		wear, wears, outfit, sneaker, handbag, stylist, supermodel, label, gucci, prada, chanel, dior, hermes, louis vuitton`)
)

type hit struct{ lane, weight int }

// tagLane maps each tag to an index in lanes. wordLanes maps each title keyword to indexes in lanes with weights.
var (
	tagLane   = map[string]int{}
	wordLanes = map[string][]hit{}
)

func init() {
	for i, e := range lanes {
		for tag := range set(e.tags) {
			if _, taken := tagLane[tag]; !taken {
				tagLane[tag] = i
			}
		}
		for _, column := range e.columns() {
			for w := range set(column.words) {
				wordLanes[w] = append(wordLanes[w], hit{i, column.weight})
			}
		}
	}
}

// column contains the title keywords of one lane that have the same weight.
type column struct {
	words  string
	weight int
}

func (e entry) columns() []column {
	return []column{{e.strong, strongWeight}, {e.plain, plainWeight}, {e.names, plainWeight}, {e.faint, faintWeight}}
}

// set returns the entries of a comma-separated list as a set.
func set(list string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.SplitSeq(list, ",") {
		if w = strings.TrimSpace(w); w != "" {
			out[w] = true
		}
	}
	return out
}
