package categorise

import (
	"strings"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// entry is one lane's words. Tags are slugs of the venue; strong words decide
// almost alone, plain ones add up, faint ones break a tie.
type entry struct {
	lane                       syntax.Lane
	tags, strong, plain, faint string
}

// The weights of the three columns.
const (
	strongWeight = 5
	plainWeight  = 3
	faintWeight  = 1
)

// lanes is in order of priority: narrow lanes before broad ones.
var lanes = []entry{
	{
		lane:   syntax.LaneMusic,
		tags:   "music, spotify, grammys, albums, concerts, k-pop, hip-hop",
		strong: "grammy, billboard, spotify, album, hot 100, rapper, eurovision, k pop, mixtape, most streamed artist, coachella, glastonbury",
		plain:  "song, music, band, singer, concert, tour, single, chart, setlist, record label, musician, lyrics",
		faint:  "artist, stream, tracklist, listeners",
	},
	{
		lane:   syntax.LaneCrypto,
		tags:   "crypto, bitcoin, ethereum, solana, cryptocurrency, crypto-prices, defi, nft, memecoins, xrp, airdrops, stablecoins",
		strong: "bitcoin, btc, ethereum, eth, solana, dogecoin, xrp, crypto, blockchain, stablecoin, memecoin, airdrop, defi, binance, coinbase, token launch, up or down",
		plain:  "coin, token, nft, mainnet, staking, wallet, satoshi, altcoin, fdv, layer 2",
		faint:  "network upgrade, hard fork, chain",
	},
	{
		lane: syntax.LaneSport,
		tags: "sports, sport, nba, nfl, mlb, nhl, soccer, football, esports, tennis, basketball, baseball, hockey, golf, cricket, ufc, mma, boxing, " +
			"f1, formula-1, epl, premier-league, champions-league, olympics, nascar, rugby, games, counter-strike, league-of-legends, dota-2",
		strong: "nba, nfl, mlb, nhl, ufc, premier league, champions league, super bowl, world cup, grand prix, wimbledon, olympics, playoffs, moneyline, " +
			"formula 1, esports, counter strike, dota, ncaab, la liga, bundesliga, serie a, ballon d or, world series, stanley cup",
		plain: "vs, match, team, league, championship, champion, cup, goal, coach, quarterback, touchdown, striker, tournament, semifinal, o u, spread, fc, " +
			"heavyweight, knockout, medal, marathon, innings, mvp, relegated, transfer",
		faint: "game, season, win, final, score, player",
	},
	{
		lane:   syntax.LaneEntertainment,
		tags:   "entertainment, movies, movie, film, films, tv, television, netflix, oscars, emmys, awards, box-office, anime, celebrities-on-screen, rotten-tomatoes",
		strong: "oscar, box office, rotten tomatoes, opening weekend, best picture, emmy, netflix, hbo, golden globe, sequel, film, movie, tv series, tv show, sitcom, best actress, best actor",
		plain:  "actor, actress, trailer, episode, season finale, cinema, screenplay, director, pixar, disney, marvel, reality show, anime, renewed",
		faint:  "series, show, season, cast, premiere, release",
	},
	{
		lane:   syntax.LaneCulture,
		tags:   "pop-culture, culture, fashion, celebrities, art, royals, viral, social-media, mentions, internet-culture, creators",
		strong: "fashion, met gala, runway, couture, celebrity, engagement, pregnant, tiktok, influencer, kardashian, royal wedding, creative director, vogue, youtuber, mrbeast",
		plain:  "wedding, divorce, married, engaged, museum, designer, wear, gala, podcast, tweet, subscriber, meme, viral, painting, exhibition, person of the year",
		faint:  "say, post, label, style",
	},
	{
		lane: syntax.LaneTech,
		tags: "tech, technology, ai, artificial-intelligence, big-tech, openai, software, gaming, apple, google, tesla, chips",
		strong: "ai, openai, chatgpt, gpt, anthropic, llm, artificial intelligence, iphone, nvidia, deepmind, semiconductor, startup, self driving, robotaxi, " +
			"google gemini, ai model, xai, deepseek, cybersecurity",
		plain: "app, apple, google, microsoft, tesla, meta, amazon, software, chip, robot, device, data center, ios, android, model, benchmark, hack, quantum, takeover",
		faint: "launch, platform, server, internet",
	},
	{
		lane: syntax.LaneScience,
		tags: "science, weather, climate, space, health, biology, medicine, spacex, nasa, earthquakes, pandemics, hurricanes, temperature, astronomy",
		strong: "temperature, hurricane, earthquake, spacex, nasa, climate, weather, asteroid, magnitude, vaccine, fda, pandemic, hottest, rainfall, " +
			"landfall, starship, river level, volcano, bird flu, measles, nobel prize",
		plain: "space, rocket, storm, flood, snow, virus, disease, species, telescope, orbit, moon, mars, wildfire, gauge, degrees, lunar, lander, arctic, ice extent, rain",
		faint: "study, river, heat, cases, science",
	},
	{
		lane: syntax.LaneEconomy,
		tags: "economy, business, finance, fed, economics, stocks, inflation, interest-rates, ipos, commodities, earnings, fed-rates, economic-policy, macro, housing, indicies, indices",
		strong: "fed, inflation, interest rate, interest rates, recession, gdp, unemployment, s&p, s&p 500, nasdaq, dow jones, ipo, earnings, cpi, central bank, bps, " +
			"crude oil, jobs report, market cap, treasury yield, rate cut",
		plain: "rate, bank, stock, share, tariff, oil, gold, price, ceo, bankruptcy, merger, acquisition, economy, budget, tax, mortgage, dollar, euro, debt, wage, trade deal",
		faint: "market, company, sales, revenue, close above",
	},
	{
		lane: syntax.LaneWorld,
		tags: "world, geopolitics, ukraine, middle-east, israel, china, russia, iran, foreign-policy, world-affairs, gaza, war, military-action, venezuela",
		strong: "ceasefire, invade, invasion, nato, missile, airstrike, nuclear, ukraine, russia, gaza, israel, iran, taiwan, treaty, troops, hostage, " +
			"military, united nations, coup, sanctions, annex, border crossing",
		plain: "war, peace, border, embassy, ambassador, strike, country, territory, refugee, drone, accord, pact, summit, capture, extradited, pope",
		faint: "sign, agreement, corridor, meet, attack",
	},
	{
		lane: syntax.LanePolitics,
		tags: "politics, elections, us-politics, us-election, trump, congress, global-elections, senate, primaries, supreme-court, trump-presidency, midterms, mayoral-elections",
		strong: "election, president, presidential, senate, congress, governor, prime minister, parliament, democrat, republican, impeach, supreme court, " +
			"referendum, nominee, cabinet, trump, biden, mayor, chancellor, coalition, white house, deport, shutdown",
		plain: "vote, party, candidate, minister, bill, law, poll, ballot, campaign, seat, veto, pardon, approval rating, executive order, majority, primary, resign, indicted",
		faint: "government, policy, leader, secretary, confirm",
	},
}

var categories = map[syntax.Lane]string{
	syntax.LaneSport: Sports, syntax.LaneMusic: Music, syntax.LaneCrypto: Crypto, syntax.LanePolitics: Politics,
	syntax.LaneWorld: News, syntax.LaneScience: Science, syntax.LaneTech: Tech, syntax.LaneEconomy: Economy,
}

var (
	tvWords = set("tv, television, series, season, episode, show, sitcom, netflix, hbo, emmy, emmys, reality show, tv show, tv series, streaming, " +
		"renewed, season finale, late night, survivor, soap opera")
	fashionWords = set("fashion, runway, couture, met gala, vogue, designer, creative director, fashion week, fashion house, gala, wear, wears, sneaker, " +
		"handbag, stylist, supermodel, label, gucci, prada, chanel, dior, hermes, louis vuitton")
)

type hit struct{ lane, weight int }

// tagLane and wordLanes index the table by word.
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
		for _, column := range []struct {
			words  string
			weight int
		}{{e.strong, strongWeight}, {e.plain, plainWeight}, {e.faint, faintWeight}} {
			for w := range set(column.words) {
				wordLanes[w] = append(wordLanes[w], hit{i, column.weight})
			}
		}
	}
}

func set(list string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.SplitSeq(list, ",") {
		out[strings.TrimSpace(w)] = true
	}
	return out
}
