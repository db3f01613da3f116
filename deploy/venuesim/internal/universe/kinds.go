package universe

import (
	"fmt"
	"time"
)

const (
	hour  = 3600
	daily = 24 * hour
	week  = 7 * daily
)

// kind is a sort of event: how common, how long, how many markets, which words.
type kind struct {
	weight    int
	tags      []string
	lifetimes []int64
	least     int
	most      int
	write     func(d *dice, size int, end time.Time) *story
}

func (k kind) size(d *dice) int { return d.between(k.least, k.most) }

func drawKind(d *dice) kind {
	total := 0
	for _, k := range kinds {
		total += k.weight
	}
	n := d.below(total)
	for _, k := range kinds {
		if n -= k.weight; n < 0 {
			return k
		}
	}
	return kinds[0]
}

var (
	medium = []int64{3 * daily, week, 2 * week, 30 * daily, 45 * daily}
	long   = []int64{2 * week, 30 * daily, 60 * daily, 90 * daily, 150 * daily, 200 * daily}
	games  = []int64{daily, 2 * daily, 3 * daily, 5 * daily, week}
)

var kinds = []kind{
	{8, []string{"Politics", "Elections"}, long, 3, 8, func(d *dice, size int, end time.Time) *story {
		country := d.of(countries)
		return race(fmt.Sprintf("Who wins the %d election in %s?", end.Year(), country),
			"Will %s win the "+fmt.Sprint(end.Year())+" election in "+country+"?", d.some(people, size))
	}},
	{4, []string{"Politics"}, medium, 1, 1, func(d *dice, _ int, end time.Time) *story {
		return one(fmt.Sprintf("Will the %s leave the governing coalition of %s by %s?", d.of(parties), d.of(countries), day(end)))
	}},
	{6, []string{"Sports", "Soccer"}, games, 1, 3, func(d *dice, size int, end time.Time) *story {
		home, away := d.pair(clubs)
		return match(d, d.of(leagues), home, away, size, end)
	}},
	{5, []string{"Sports", "Basketball"}, games, 1, 2, func(d *dice, size int, end time.Time) *story {
		home, away := d.pair(squads)
		return match(d, d.of(leagues), home, away, size, end)
	}},
	{3, []string{"Sports"}, long, 4, 8, func(d *dice, size int, end time.Time) *story {
		league := d.of(leagues)
		return race(fmt.Sprintf("%d %s champion", end.Year(), league), "Will %s win the "+fmt.Sprint(end.Year())+" "+league+"?", d.some(clubs, size))
	}},
	{2, []string{"Sports"}, medium, 1, 1, func(d *dice, _ int, end time.Time) *story {
		return one(fmt.Sprintf("Will %s score %d or more goals before %s?", d.of(players), d.between(3, 12), day(end)))
	}},
	{6, []string{"Crypto", "Up or Down"}, []int64{hour}, 1, 1, func(d *dice, _ int, end time.Time) *story {
		return upDown(d.of(coins), end)
	}},
	{5, []string{"Crypto"}, []int64{daily, week, 30 * daily}, 3, 6, func(d *dice, size int, end time.Time) *story {
		coin, base := d.of(coins), d.between(2, 90)*100
		steps := make([]string, size)
		for i := range steps {
			steps[i] = fmt.Sprintf("$%d", base+i*base/20)
		}
		return ladder(fmt.Sprintf("%s price on %s", coin, day(end)), "Will "+coin+" close above %s on "+day(end)+"?", steps)
	}},
	{2, []string{"Crypto"}, medium, 1, 1, func(d *dice, _ int, end time.Time) *story {
		return one(fmt.Sprintf("Will %s ship its main upgrade by %s?", d.of(chains), day(end)))
	}},
	{5, []string{"Pop Culture", "Music"}, medium, 1, 1, func(d *dice, _ int, end time.Time) *story {
		return one(fmt.Sprintf("Will \"%s\" by %s be number one on the album chart by %s?", d.of(songs), d.of(bands), day(end)))
	}},
	{3, []string{"Music"}, long, 3, 6, func(d *dice, size int, end time.Time) *story {
		return race(fmt.Sprintf("Most streamed artist of %d", end.Year()), "Will %s be the most streamed artist of "+fmt.Sprint(end.Year())+"?", d.some(bands, size))
	}},
	{4, []string{"Movies", "Entertainment"}, medium, 2, 4, func(d *dice, size int, end time.Time) *story {
		film, steps := d.of(films), make([]string, size)
		for i := range steps {
			steps[i] = fmt.Sprintf("$%dm", 20*(i+1)+d.below(10))
		}
		return ladder(fmt.Sprintf("%s opening weekend box office", film), "Will the film \""+film+"\" take more than %s on its opening weekend?", steps)
	}},
	{3, []string{"Movies", "Awards"}, long, 4, 7, func(d *dice, size int, end time.Time) *story {
		award := fmt.Sprintf("%d %s for best picture", end.Year(), d.of(awards))
		return race("Who takes the "+award+"?", "Will \"%s\" win the "+award+"?", d.some(films, size))
	}},
	{4, []string{"TV", "Entertainment"}, medium, 1, 1, func(d *dice, _ int, end time.Time) *story {
		return one(fmt.Sprintf("Will the TV series \"%s\" be renewed for another season by %s?", d.of(series), day(end)))
	}},
	{3, []string{"TV"}, medium, 3, 6, func(d *dice, size int, end time.Time) *story {
		show := d.of(series)
		return race(fmt.Sprintf("Who leaves \"%s\" next?", show), "Will %s be written out of the TV show \""+show+"\" next?", d.some(people, size))
	}},
	{4, []string{"Pop Culture", "Fashion"}, medium, 1, 1, func(d *dice, _ int, end time.Time) *story {
		return one(fmt.Sprintf("Will %s name %s creative director of its fashion house by %s?", d.of(houses), d.of(people), day(end)))
	}},
	{3, []string{"Fashion", "Culture"}, long, 3, 5, func(d *dice, size int, end time.Time) *story {
		who := d.of(famous)
		return race(fmt.Sprintf("Which label does %s wear to the %s gala?", who, d.of(awards)), "Will "+who+" wear %s to the fashion gala?", d.some(houses, size))
	}},
	{3, []string{"Pop Culture"}, medium, 1, 1, func(d *dice, _ int, end time.Time) *story {
		a, b := d.pair(famous)
		return one(fmt.Sprintf("Will %s and %s announce an engagement by %s?", a, b, day(end)))
	}},
	{4, []string{"Tech", "AI"}, medium, 3, 5, func(d *dice, size int, end time.Time) *story {
		return race("Which AI model leads the open benchmark on "+day(end)+"?", "Will %s be the top AI model on "+day(end)+"?", d.some(models, size))
	}},
	{3, []string{"Tech"}, medium, 1, 1, func(d *dice, _ int, end time.Time) *story {
		return one(fmt.Sprintf("Will %s announce a takeover of %s by %s?", d.of(firms[:5]), d.of(firms[5:]), day(end)))
	}},
	{4, []string{"Economy", "Finance"}, long, 3, 4, func(d *dice, size int, end time.Time) *story {
		bank := d.of(banks)
		steps := []string{"a cut of 25 bps", "no change", "a rise of 25 bps", "a cut of 50 bps"}[:size]
		return race(fmt.Sprintf("What does %s decide in %s?", bank, end.Format("January 2006")), "Will "+bank+" announce %s of its interest rate in "+end.Format("January 2006")+"?", steps)
	}},
	{2, []string{"Economy"}, medium, 1, 1, func(d *dice, _ int, end time.Time) *story {
		return one(fmt.Sprintf("Will inflation in %s be above %d.%d%% in the figures of %s?", d.of(countries), d.between(1, 6), d.below(10), end.Format("January 2006")))
	}},
	{4, []string{"Science", "Weather"}, medium, 2, 4, func(d *dice, size int, end time.Time) *story {
		town, steps := d.of(towns), make([]string, size)
		base := d.between(4, 31)
		for i := range steps {
			steps[i] = fmt.Sprintf("%d°C", base+2*i)
		}
		return ladder(fmt.Sprintf("Highest temperature in %s on %s", town, day(end)), "Will the temperature in "+town+" reach %s on "+day(end)+"?", steps)
	}},
	{2, []string{"Science", "Weather"}, medium, 1, 1, func(d *dice, _ int, end time.Time) *story {
		return one(fmt.Sprintf("Will the gauge on %s at %s read above %d m before %s?", d.of(rivers), d.of(towns), d.between(3, 9), day(end)))
	}},
	{2, []string{"Science", "Space"}, long, 1, 1, func(d *dice, _ int, end time.Time) *story {
		return one(fmt.Sprintf("Will the %s launch before %s?", d.of(missions), day(end)))
	}},
	{2, []string{"Weather"}, medium, 1, 1, func(d *dice, _ int, end time.Time) *story {
		return one(fmt.Sprintf("Will storm %s make landfall near %s by %s?", d.of(storms), d.of(towns), day(end)))
	}},
	{5, []string{"World", "Geopolitics"}, long, 1, 1, func(d *dice, _ int, end time.Time) *story {
		a, b := d.pair(countries)
		return one(fmt.Sprintf("Will %s and %s sign %s by %s?", a, b, d.of(treaties), day(end)))
	}},
	{2, []string{"World"}, medium, 2, 3, func(d *dice, size int, end time.Time) *story {
		return ladder("Which country reopens its border first?", "Will %s reopen its eastern border before "+day(end)+"?", d.some(countries, size))
	}},
	{2, []string{"Other oddities"}, medium, 1, 1, func(d *dice, _ int, end time.Time) *story {
		return one(fmt.Sprintf("Will the town clock of %s be repaired by %s?", d.of(towns), day(end)))
	}},
}
