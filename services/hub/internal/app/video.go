package app

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/run"
	"github.com/signalcast/signalcast/services/hub/internal/clip"
	"github.com/signalcast/signalcast/services/hub/internal/hls"
	"github.com/signalcast/signalcast/services/hub/internal/hosting"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// VideoConfig is who takes the video of operators, and what our own origin may keep.
type VideoConfig struct {
	Provider string `env:"INGEST_PROVIDER" envDefault:"origin"` // origin, rtmp, livepeer, mux or none
	HLS      string `env:"HLS_URL"`                             // where viewers find the origin; empty: no origin
	RTMP     string `env:"RTMP_URL"`                            // of the RTMP server in front of it: rtmp://host/live

	Listen      string        `env:"ORIGIN_LISTEN"`                              // where this hub is the origin; empty: another one is, or none
	Dir         string        `env:"ORIGIN_DIR"`                                 // for this hub alone
	Window      time.Duration `env:"ORIGIN_WINDOW"       envDefault:"2m"`        // how long a segment is kept
	StreamBytes int64         `env:"ORIGIN_STREAM_BYTES" envDefault:"268435456"` // of one stream
	ClipBytes   int64         `env:"CLIP_DISK_BYTES"     envDefault:"10737418240"`
	FFmpeg      string        `env:"FFMPEG"              envDefault:"ffmpeg"` // for the still pictures of clips

	LivepeerKey      config.Secret `env:"LIVEPEER_API_KEY"`
	LivepeerURL      string        `env:"LIVEPEER_URL"      envDefault:"https://livepeer.studio"`
	LivepeerIngest   string        `env:"LIVEPEER_INGEST"   envDefault:"rtmp://rtmp.livepeer.com/live"`
	LivepeerPlayback string        `env:"LIVEPEER_PLAYBACK" envDefault:"https://livepeercdn.studio/hls"`

	MuxID       string        `env:"MUX_TOKEN_ID"`
	MuxSecret   config.Secret `env:"MUX_TOKEN_SECRET"`
	MuxURL      string        `env:"MUX_URL"      envDefault:"https://api.mux.com"`
	MuxIngest   string        `env:"MUX_INGEST"   envDefault:"rtmps://global-live.mux.com:443/app"`
	MuxPlayback string        `env:"MUX_PLAYBACK" envDefault:"https://stream.mux.com"`
}

// check is part of Config.Check.
func (c *VideoConfig) check(r *config.Report) {
	r.OneOf("INGEST_PROVIDER", c.Provider, ingest.OriginName, ingest.RTMPName, hosting.LivepeerName, hosting.MuxName, "none")
	r.OptAddr("ORIGIN_LISTEN", c.Listen)
	if c.HLS != "" {
		r.PublicURL("HLS_URL", c.HLS)
	} else if c.Listen != "" && r.Env().Production() {
		r.Fail("HLS_URL", "is not set, and ORIGIN_LISTEN is")
	}
	if c.Listen != "" && c.Dir == "" {
		r.Fail("ORIGIN_DIR", "is not set, and ORIGIN_LISTEN is")
	}
	if c.Window < 90*time.Second || c.Window > time.Hour {
		r.Fail("ORIGIN_WINDOW", "must be from 90s to 1h")
	}
	if c.StreamBytes < 1<<20 {
		r.Fail("ORIGIN_STREAM_BYTES", "must be at least 1048576")
	}
	if c.ClipBytes < 1<<20 {
		r.Fail("CLIP_DISK_BYTES", "must be at least 1048576")
	}
	switch c.Provider {
	case ingest.RTMPName:
		r.URL("RTMP_URL", c.RTMP, "rtmp", "rtmps")
	case hosting.LivepeerName:
		r.Secret("LIVEPEER_API_KEY", c.LivepeerKey)
		for name, u := range map[string]string{"LIVEPEER_URL": c.LivepeerURL, "LIVEPEER_PLAYBACK": c.LivepeerPlayback} {
			r.URL(name, u, hostSchemes(r)...)
		}
	case hosting.MuxName:
		if c.MuxID == "" {
			r.Fail("MUX_TOKEN_ID", "is not set")
		}
		r.Secret("MUX_TOKEN_SECRET", c.MuxSecret)
		for name, u := range map[string]string{"MUX_URL": c.MuxURL, "MUX_PLAYBACK": c.MuxPlayback} {
			r.URL(name, u, hostSchemes(r)...)
		}
	}
}

// hostSchemes lets hosts be stood in for by local programs outside of production.
func hostSchemes(r *config.Report) []string {
	if r.Env().Production() {
		return []string{"https"}
	}
	return []string{"https", "http"}
}

// own tells whether video comes to an origin of ours.
func (c *VideoConfig) own() bool {
	return (c.Provider == ingest.OriginName || c.Provider == ingest.RTMPName) && (c.HLS != "" || c.Listen != "")
}

// base is where viewers find the origin. Without HLS_URL it is where it listens.
func (a *App) videoBase() string {
	if a.cfg.Video.HLS != "" {
		return strings.TrimSuffix(a.cfg.Video.HLS, "/")
	}
	if at := a.OriginAddr(); at != "" {
		return "http://" + at
	}
	return ""
}

// provider is who takes the video.
func (a *App) provider() ingest.Provider {
	c := a.cfg.Video
	ours := ingest.Origin{Base: a.videoBase}
	switch c.Provider {
	case ingest.OriginName:
		return ours
	case ingest.RTMPName:
		return ingest.RTMP{Origin: ours, URL: strings.TrimSuffix(c.RTMP, "/")}
	case hosting.LivepeerName:
		return hosting.NewLivepeer(hosting.LivepeerConfig{
			API: c.LivepeerURL, Key: c.LivepeerKey.Reveal(), Ingest: c.LivepeerIngest, Playback: strings.TrimSuffix(c.LivepeerPlayback, "/"),
		})
	case hosting.MuxName:
		return hosting.NewMux(hosting.MuxConfig{
			API: c.MuxURL, TokenID: c.MuxID, TokenSecret: c.MuxSecret.Reveal(), Ingest: c.MuxIngest, Playback: strings.TrimSuffix(c.MuxPlayback, "/"),
		})
	}
	return ingest.None{}
}

// provisioner returns the service that provisions streams; nil where none are provisioned.
func (a *App) provisioner() *ingest.Service {
	if c := &a.cfg.Video; c.Provider == "none" || !c.own() && (c.Provider == ingest.OriginName || c.Provider == ingest.RTMPName) {
		return nil
	}
	return a.ingest
}

// newVideo builds the origin, if this hub is one, and the service that cuts clips.
func (a *App) newVideo() {
	failures := a.metrics.Counter("clip_failures_total", "Attempts to cut a clip that failed.")
	d := clip.Deps{
		Air: a.onair, Directory: operator.Directory{Ledger: a.api.Operators}, Signals: a.api.Signals, Store: a.store,
		Video: a.cfg.Video.own(), NewID: newID, Now: a.now, Failed: func(id string, err error) {
			failures.WithLabelValues().Inc()
			a.log.Warn("clip not cut", "clip", id, "error", err)
		},
	}
	if a.cfg.Video.Listen != "" {
		a.origin = hls.New(hls.Options{
			Dir: a.cfg.Video.Dir, Base: a.videoBase, Admit: a.ingest.Admit, Beat: a.beat,
			Withheld: a.store.OnAir().Withheld, Keep: a.cfg.Video.Window, StreamBytes: a.cfg.Video.StreamBytes,
			ClipBytes: a.cfg.Video.ClipBytes, FFmpeg: a.cfg.Video.FFmpeg, Now: a.now, Log: a.log,
		})
		d.Maker = a.origin
		a.film = httpx.NewServer(a.cfg.Video.Listen, httpx.Harden(a.origin, a.cfg.Env.Production()), filmLimits, a.log)
	}
	a.clips = clip.NewService(d)
}

// beat takes video that arrived for a heartbeat.
func (a *App) beat(ctx context.Context, handle protocol.Handle) error {
	_, err := a.onair.Beat(ctx, livestream.Beat{Handle: handle})
	return err
}

// filmLimits are of the origin's face: a segment is sent as slowly as it is filmed.
var filmLimits = httpx.Limits{ReadHeader: 5 * time.Second, Read: 90 * time.Second, Write: 90 * time.Second, Idle: 75 * time.Second}

// filmStop is how long what is on its way may take when stopping.
const filmStop = 2 * time.Second

// standBy is how often a hub looks whether the video has become its own.
const standBy = 500 * time.Millisecond

// videoParts are what runs for video.
func (a *App) videoParts() []run.Part {
	if a.origin == nil {
		return nil
	}
	return []run.Part{
		{
			Name: "video files", Start: func(ctx context.Context) error { _, err := a.openOrigin(ctx); return err },
			Stop: func(context.Context) error { return a.origin.Close() },
		},
		run.Loop("video", a.runOrigin),
		run.Loop("clips", a.clips.Run),
	}
}

// openOrigin makes this hub the origin; false: another one is.
func (a *App) openOrigin(ctx context.Context) (bool, error) {
	held, err := a.origin.Take()
	if err != nil || !held {
		return false, err
	}
	if err := a.film.Start(ctx); err != nil {
		return false, err
	}
	addr := a.film.Addr()
	a.filmAddr.Store(&addr)
	return true, nil
}

// runOrigin is the origin until ctx ends. Where another hub is, it stands by: that one's
// end makes this one the origin.
func (a *App) runOrigin(ctx context.Context) error {
	if a.OriginAddr() == "" {
		a.log.Info("another hub is the origin of video, this one stands by")
	}
	for a.OriginAddr() == "" {
		if err := dbtime.Sleep(ctx, standBy); err != nil {
			return err
		}
		if _, err := a.openOrigin(ctx); err != nil && ctx.Err() == nil {
			a.log.Warn("not the origin of video yet", "error", err)
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- a.film.Serve() }()
	swept := make(chan error, 1)
	go func() { swept <- a.origin.Run(ctx) }()
	select {
	case err := <-ended:
		if err == nil {
			err = errFilmEnded
		}
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), filmStop)
	defer cancel()
	// Segments that are being filmed are cut off, and sent again elsewhere.
	if err := a.film.Stop(stop); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		a.log.Warn("video not stopped in order", "error", err)
	}
	<-ended
	<-swept
	return ctx.Err()
}

var errFilmEnded = errors.New("the origin of video ended by itself")

// OriginAddr is where the origin listens; empty while this hub is none.
func (a *App) OriginAddr() string {
	if at := a.filmAddr.Load(); at != nil {
		return *at
	}
	return ""
}
