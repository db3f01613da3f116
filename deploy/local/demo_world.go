package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/sdk/go/client"
)

const (
	beatEvery   = 15 * time.Second
	viewEvery   = 10 * time.Second
	decideEvery = 2 * time.Minute
	clipAfter   = 40 * time.Second
	endAfter    = 90 * time.Second
	bestKnown   = 5 // number of operators of the leaderboard that each bot follows
)

// pastPrices stores a price for each hour of two weeks before now, for the open markets with the greatest volume. The prices are waves
// that lead to the present price.
const pastPrices = `
INSERT INTO api.market_prices (market_id, at, yes_bps)
SELECT q.market_id, date_trunc('hour', now()) - make_interval(hours => h), q.yes_bps + (0.65 * least(q.yes_bps, 10000 - q.yes_bps)
    * (0.5 * (sin(h / 31.0 + q.phase) - sin(q.phase)) + 0.2 * (sin(h / 5.0 + 2 * q.phase) - sin(2 * q.phase))))::int
FROM (SELECT market_id, yes_bps, (hashtext(market_id) & 1023) / 160.0 AS phase FROM api.market_quotes
    WHERE yes_bps BETWEEN 200 AND 9800 ORDER BY volume_usd DESC NULLS LAST LIMIT 200) AS q, generate_series(0, 14 * 24) AS h
ON CONFLICT DO NOTHING`

// movePrices stores pastPrices.
func (s *crew) movePrices(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.stack.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, pastPrices)
	return err
}

// meet sets the profiles of the bots, with pictures. Each bot follows the other bots and the first operators of the leaderboard.
func (s *crew) meet(ctx context.Context) error {
	var board struct{ Leaderboard []struct{ Callsign string } }
	path := fmt.Sprintf("/api/v1/signals/leaderboard?operators=independent&limit=%d", bestKnown)
	if err := s.bots[0].ask(ctx, http.MethodGet, s.stack.API+path, "", &board); err != nil {
		return err
	}
	if len(board.Leaderboard) > 0 {
		s.leader = board.Leaderboard[0].Callsign
	}
	for i, b := range s.bots {
		if err := b.introduce(ctx, personas[i]); err != nil {
			return err
		}
		for _, other := range s.bots {
			if other == b {
				continue
			}
			if _, err := b.login.People.Follow(ctx, other.handle); err != nil {
				return err
			}
		}
		for _, row := range board.Leaderboard {
			if _, err := b.login.People.Follow(ctx, row.Callsign); err != nil {
				return err
			}
		}
	}
	return nil
}

// goLive makes the bot a streamer, starts a broadcast about the market, and sends heartbeats until ctx ends. It returns the URL to
// which an encoder pushes the video.
func (b *bot) goLive(ctx context.Context, market string) (string, error) {
	// A bot of an earlier demo is a streamer already, which the hub refuses.
	if _, err := b.login.Hub.RegisterStreamerWithResponse(ctx, client.StreamerRegister{}); err != nil {
		return "", err
	}
	a, err := b.client.Hub.ApproveStreamerWithResponse(ctx,
		client.StreamerApprove{Handle: b.handle, Status: client.StreamerApproveStatusApproved}, b.asAdmin)
	if err == nil && a.JSON200 == nil {
		err = fmt.Errorf("POST /api/admin/streamers answered %s", a.Status())
	}
	if err != nil {
		return "", err
	}
	m, err := b.client.Markets.Get(ctx, market)
	if err != nil {
		return "", err
	}
	if _, err = b.client.Live.SetSignal(ctx, client.OverlayWrite{MarketID: market, Name: m.Question}); err != nil {
		return "", err
	}
	stream, err := b.login.Hub.ProvisionStreamWithResponse(ctx, client.StreamWish{})
	if err == nil && stream.JSON201 == nil {
		err = fmt.Errorf("POST /api/streamer/stream answered %s", stream.Status())
	}
	if err == nil {
		err = b.beat(ctx, client.HeartbeatSendStateLive, market)
	}
	if err != nil {
		return "", err
	}
	go func() {
		for dbtime.Sleep(ctx, beatEvery) == nil {
			_ = b.beat(ctx, client.HeartbeatSendStateLive, market) // after a restart of the hub, a later one is accepted
		}
	}()
	return b.stack.Origin + "/ingest/" + stream.JSON201.Stream.Ingest.StreamKey + "/" + b.handle + "/index.m3u8", nil
}

func (b *bot) beat(ctx context.Context, state client.HeartbeatSendState, market string) error {
	_, err := b.client.Live.Beat(ctx, client.HeartbeatSend{MarketID: &market, State: &state})
	return err
}

// push sends a test picture to the video origin until ctx ends. It returns an error if ffmpeg is not installed.
func push(ctx context.Context, to string) error {
	return exec.CommandContext(ctx, "ffmpeg", "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=10",
		"-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", "20", "-keyint_min", "20", "-sc_threshold", "0",
		"-f", "hls", "-hls_time", "2", "-hls_list_size", "5", "-hls_flags", "delete_segments", "-method", "PUT", to).Start()
}

// broadcast starts two broadcasts about the market: one of the first bot that lasts until ctx ends, and one of the second bot that
// ends after endAfter.
func (s *crew) broadcast(ctx context.Context, market string) error {
	to, err := s.bots[0].goLive(ctx, market)
	if err != nil {
		return err
	}
	if err := push(ctx, to); err != nil {
		say("the broadcast has no video: %v", err)
	} else {
		go s.clip(ctx)
	}
	short, cancel := context.WithTimeout(ctx, endAfter)
	b := s.bots[1]
	if _, err := b.goLive(short, market); err != nil {
		cancel()
		return err
	}
	go s.view(ctx, s.bots[0], 2)
	go s.view(short, b, 8) // few viewers, so that the programme shows the broadcast with video
	go func() {
		defer cancel()
		if dbtime.Sleep(ctx, endAfter) == nil {
			_ = b.beat(ctx, client.HeartbeatSendStateOffline, market) // otherwise it ends without heartbeats
		}
	}()
	_, err = b.callListed(ctx)
	return err
}

// view makes other bots viewers of a broadcast until ctx ends. Every viewEvery, each of them reports a view with the probability
// 1/oneIn, so that the number of viewers changes.
func (s *crew) view(ctx context.Context, live *bot, oneIn int) {
	r := rand.New(rand.NewPCG(uint64(len(live.handle)), 13))
	for dbtime.Sleep(ctx, viewEvery) == nil {
		for _, b := range s.bots {
			if b != live && r.IntN(oneIn) == 0 {
				_, _ = b.client.Hub.ViewStreamWithResponse(ctx, live.handle, client.View{ViewerID: &b.handle}) // views are not needed
			}
		}
	}
}

// clip waits for clipAfter, so that there is enough video, and then makes a clip of the broadcast of the first bot. It prints a
// failure and continues: the demo works without clips.
func (s *crew) clip(ctx context.Context) {
	if dbtime.Sleep(ctx, clipAfter) != nil {
		return
	}
	title := "The price is not where it was an hour ago"
	a, err := s.bots[2].login.Hub.MakeClipWithResponse(ctx, s.bots[0].handle, client.ClipWish{Title: &title})
	if err == nil && a.JSON201 == nil {
		err = fmt.Errorf("POST /api/live/%s/clip answered %s", s.bots[0].handle, a.Status())
	}
	if err != nil && ctx.Err() == nil {
		say("the broadcast has no clip: %v", err)
	}
}

// venueA matches the market ids of the venue at which decide resolves markets.
var venueA = regexp.MustCompile(`^\d+$`)

// decide resolves a market with a call of a bot every two minutes, until ctx ends. The outcome is YES with the probability of the
// YES price at which the bot called.
func (s *crew) decide(ctx context.Context) error {
	r := rand.New(rand.NewPCG(uint64(len(s.bots)), 11))
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case o := <-s.filed:
			if !venueA.MatchString(o.market) || o.market == s.onAir {
				continue
			}
			outcome := "NO"
			if r.IntN(10_000) < o.yes {
				outcome = "YES"
			}
			body := fmt.Sprintf(`{"state":"resolved","outcome":%q}`, outcome)
			var changed struct{ ID string }
			if err := s.bots[0].askOnce(ctx, http.MethodPost, s.stack.Venues+"/sim/polymarket/markets/"+o.market, body, &changed); err != nil {
				continue // the market has ended
			}
		}
		if err := dbtime.Sleep(ctx, decideEvery); err != nil {
			return err
		}
	}
}
