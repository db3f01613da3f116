package record

import (
	"fmt"
	"strings"
	"time"
)

// tolerance is how far below the market a call is scored at most, from a time on.
type tolerance struct {
	Since time.Time `json:"since"`
	Bps   int       `json:"bps"`
}

// handover is how long a tolerance may be in use after the next one began: the
// processes of a service are replaced one after the other.
const handover = 5 * time.Minute

// snapshotAge is how old a price of a venue is at most when a call is held against it.
const snapshotAge = 15 * time.Minute

type snapshot struct {
	YesBps int       `json:"yesBps"`
	At     time.Time `json:"at"`
}

func checkTolerances(list []tolerance, d *differences) {
	for i, t := range list {
		at := fmt.Sprintf("priceTolerances[%d]", i)
		d.that(t.Bps >= 0 && t.Bps <= 10000, at+".bps", t.Bps, "0 to 10000")
		if i == 0 {
			d.that(t.Since.Equal(time.Unix(0, 0)), at+".since", stamp(&t.Since), "1970-01-01T00:00:00.000Z")
			continue
		}
		d.that(t.Since.After(list[i-1].Since), at+".since", stamp(&t.Since), "behind the one before")
	}
}

// held are the tolerances under which a call may have been filed.
func held(list []tolerance, at time.Time) (out []int) {
	for i, t := range list {
		over := i+1 < len(list) && !at.Before(list[i+1].Since.Add(handover))
		if !at.Before(t.Since) && !over {
			out = append(out, t.Bps)
		}
	}
	return out
}

// checkPrice works out the price that is scored (contract 4.2.7). It tells whether that
// could be done: the market's price may not be kept any more.
func (c *call) checkPrice(list []tolerance, d *differences) bool {
	d.that(c.Price >= 0 && c.Price <= 10000, "priceAtPrediction", c.Price, "0 to 10000")
	d.that(c.Basis >= c.Price && c.Basis <= 10000, "basisBps", c.Basis, "at least the price, at most 10000")
	if !c.Verified {
		d.same("basisBps", c.Basis, c.Price) // the market's price was not known
		d.that(c.Snapshot == nil, "snapshot", plain("a price"), "null, where the market's price was not known")
		return true
	}
	bounds := held(list, c.CreatedAt)
	d.that(len(bounds) > 0, "priceTolerances", plain("nothing"), "the one that held at the call")
	s := c.Snapshot
	if s == nil {
		if c.Basis > c.Price { // then the market's price was this much above it
			d.that(reaches(bounds, c.Basis), "basisBps", c.Basis, "below the highest price by the tolerance")
		}
		return false
	}
	d.that(s.YesBps >= 0 && s.YesBps <= 10000, "snapshot.yesBps", s.YesBps, "0 to 10000")
	d.that(!s.At.After(c.CreatedAt), "snapshot.at", stamp(&s.At), "not behind the call")
	d.that(c.native() || !s.At.Before(c.CreatedAt.Add(-snapshotAge)), "snapshot.at", stamp(&s.At), "not older than 15 minutes")
	side := s.YesBps
	if c.Direction == "NO" {
		side = 10000 - side
	}
	var wanted []string
	for _, bps := range bounds {
		basis := max(c.Price, side-bps)
		if basis == c.Basis {
			return true
		}
		wanted = append(wanted, fmt.Sprint(basis))
	}
	d.that(len(bounds) == 0, "basisBps", c.Basis, plain(strings.Join(wanted, " or ")))
	return true
}

// reaches tells whether a basis can follow from any price.
func reaches(bounds []int, basis int) bool {
	for _, bps := range bounds {
		if basis+bps <= 10000 {
			return true
		}
	}
	return false
}

func (c *call) native() bool { return strings.HasPrefix(c.MarketID, "native-") }
