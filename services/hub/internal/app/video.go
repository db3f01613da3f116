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
	"github.com/signalcast/signalcast/pkg/safedial"
	"github.com/signalcast/signalcast/services/hub/internal/clip"
	"github.com/signalcast/signalcast/services/hub/internal/hls"
	"github.com/signalcast/signalcast/services/hub/internal/hosting"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// VideoConfig holds the settings of the video provider and the storage limits of the hub's own HLS origin.
type VideoConfig struct {
	Provider string `env:"INGEST_PROVIDER" envDefault:"origin"` // origin, rtmp, livepeer, mux or none
	HLS      string `env:"HLS_URL"`                             // public base URL of the origin; empty: no public origin
	RTMP     string `env:"RTMP_URL"`                            // RTMP server that feeds the origin: rtmp://host/live

	Listen      string        `env:"ORIGIN_LISTEN"`                              // listener of the origin; empty: this hub is not the origin
	Dir         string        `env:"ORIGIN_DIR"`                                 // must not be shared with another service
	Window      time.Duration `env:"ORIGIN_WINDOW"       envDefault:"2m"`        // storage time of a segment
	StreamBytes int64         `env:"ORIGIN_STREAM_BYTES" envDefault:"268435456"` // storage limit of one stream
	ClipBytes   int64         `env:"CLIP_DISK_BYTES"     envDefault:"10737418240"`
	FFmpeg      string        `env:"FFMPEG"              envDefault:"ffmpeg"` // program that makes the thumbnails of clips

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

// check adds an error to r for each invalid video setting.
func (c *VideoConfig) check(r *config.Report) {
	r.OneOf("INGEST_PROVIDER", c.Provider, ingest.OriginName, ingest.RTMPName, hosting.LivepeerName, hosting.MuxName, "none")
	r.OptAddr("ORIGIN_LISTEN", c.Listen)
	if c.HLS != "" {
		r.PublicURL("HLS_URL", c.HLS)
	} else if c.Listen != "" && r.Env().Production() {
		r.Fail("HLS_URL", "is required in production when ORIGIN_LISTEN is set")
	}
	if c.Listen != "" && c.Dir == "" {
		r.Fail("ORIGIN_DIR", "is required when ORIGIN_LISTEN is set")
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
			r.Fail("MUX_TOKEN_ID", "is required when INGEST_PROVIDER is mux")
		}
		r.Secret("MUX_TOKEN_SECRET", c.MuxSecret)
		for name, u := range map[string]string{"MUX_URL": c.MuxURL, "MUX_PLAYBACK": c.MuxPlayback} {
			r.URL(name, u, hostSchemes(r)...)
		}
	}
}

// hostSchemes lists the permitted URL schemes of a video provider. http is permitted outside production, for local stubs.
func hostSchemes(r *config.Report) []string {
	if r.Env().Production() {
		return []string{"https"}
	}
	return []string{"https", "http"}
}

// own reports whether an HLS origin of this installation receives the video, directly from encoders or through an RTMP server.
func (c *VideoConfig) own() bool {
	return (c.Provider == ingest.OriginName || c.Provider == ingest.RTMPName) && (c.HLS != "" || c.Listen != "")
}

// videoBase returns the public base URL of the origin without a trailing slash. If HLS_URL is empty, it returns an http URL
// with the address of this hub's video server. It returns "" if that server is not running.
func (a *App) videoBase() string {
	if a.cfg.Video.HLS != "" {
		return strings.TrimSuffix(a.cfg.Video.HLS, "/")
	}
	if at := a.OriginAddr(); at != "" {
		return "http://" + at
	}
	return ""
}

// provider returns the client of the configured video provider. For INGEST_PROVIDER=none it returns ingest.None.
func (a *App) provider() ingest.Provider {
	c := a.cfg.Video
	origin := ingest.Origin{Base: a.videoBase}
	switch c.Provider {
	case ingest.OriginName:
		return origin
	case ingest.RTMPName:
		return ingest.RTMP{Origin: origin, URL: strings.TrimSuffix(c.RTMP, "/")}
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

// provisioner returns the service that provisions streams. It returns nil if this installation cannot provision streams.
func (a *App) provisioner() *ingest.Service {
	if c := &a.cfg.Video; c.Provider == "none" || !c.own() && (c.Provider == ingest.OriginName || c.Provider == ingest.RTMPName) {
		return nil
	}
	return a.ingest
}

// newVideo builds the clip service and, if ORIGIN_LISTEN is set, the HLS origin with its HTTP server.
func (a *App) newVideo() {
	failures := a.metrics.Counter("clip_failures_total", "Failed attempts to cut a clip.")
	d := clip.Deps{
		Air: a.onair, Directory: operator.Directory{Ledger: a.api.Operators}, Signals: a.api.Signals, Store: a.store,
		Ingest: a.ingest, Playback: a.originPlayback, Video: a.cfg.Video.HLS != "" || a.cfg.Video.Listen != "", NewID: newID, Now: a.now, Failed: func(id string, err error) {
			failures.WithLabelValues().Inc()
			a.log.Warn("clip cut failed", "clip", id, "error", err)
		},
	}
	d.Host, _ = a.videoHost.(clip.Host)
	if a.cfg.Video.Listen != "" {
		a.origin = hls.New(hls.Options{
			Dir: a.cfg.Video.Dir, Base: a.videoBase, Admit: a.ingest.Admit, Beat: a.beat,
			Withheld: a.store.OnAir().Withheld, Keep: a.cfg.Video.Window, StreamBytes: a.cfg.Video.StreamBytes,
			ClipBytes: a.cfg.Video.ClipBytes, FFmpeg: a.cfg.Video.FFmpeg, Now: a.now, Log: a.log,
			Client: safedial.Client(safedial.Options{Redirects: maxRedirects}),
		})
		d.Maker = a.origin
		a.videoHTTP = httpx.NewServer(a.cfg.Video.Listen, httpx.Harden(a.origin, a.cfg.Env.Production()), videoLimits, a.log)
	}
	a.clips = clip.NewService(d)
}

// maxRedirects is the maximum number of redirects of a file at another server from which a clip is cut.
const maxRedirects = 3

// originPlayback returns the playback URL of an operator at the HLS origin.
func (a *App) originPlayback(h protocol.Handle) string {
	return ingest.Origin{Base: a.videoBase}.Playback(ingest.Stream{Handle: h})
}

// beat records a heartbeat for the live session of an operator. The origin calls it when video of the operator arrives.
func (a *App) beat(ctx context.Context, handle protocol.Handle) error {
	_, err := a.onair.Beat(ctx, livestream.Beat{Handle: handle})
	return err
}

// videoLimits are the timeouts of the video server. They are long because an encoder uploads a segment while it still records it.
var videoLimits = httpx.Limits{ReadHeader: 5 * time.Second, Read: 90 * time.Second, Write: 90 * time.Second, Idle: 75 * time.Second}

// videoStopTimeout is the time that running uploads may take when the video server stops.
const videoStopTimeout = 2 * time.Second

// standbyInterval is the time between two attempts of a standby hub to become the origin.
const standbyInterval = 500 * time.Millisecond

// videoParts returns the parts of the process that store video and cut clips. A hub without an origin only asks the video host,
// if there is one, for clips.
func (a *App) videoParts() []run.Part {
	if a.origin == nil {
		return []run.Part{run.Loop("clips", a.clips.Run)}
	}
	return []run.Part{
		{
			Name: "video files", Start: a.openOrigin,
			Stop: func(context.Context) error { return a.origin.Close() },
		},
		run.Loop("video", a.runOrigin),
		run.Loop("clips", a.clips.Run),
	}
}

// openOrigin locks the video directory and starts the video server. It does nothing if another hub has locked the directory.
func (a *App) openOrigin(ctx context.Context) error {
	locked, err := a.origin.Take()
	if err != nil || !locked {
		return err
	}
	if err := a.videoHTTP.Start(ctx); err != nil {
		return err
	}
	addr := a.videoHTTP.Addr()
	a.videoAddr.Store(&addr)
	return nil
}

// runOrigin waits until this hub is the origin and then serves video until ctx ends or the video server stops. While another
// hub is the origin, it retries openOrigin every standbyInterval.
func (a *App) runOrigin(ctx context.Context) error {
	if a.OriginAddr() == "" {
		a.log.Info("video origin on standby")
	}
	for a.OriginAddr() == "" {
		if err := dbtime.Sleep(ctx, standbyInterval); err != nil {
			return err
		}
		if err := a.openOrigin(ctx); err != nil && ctx.Err() == nil {
			a.log.Warn("video origin not started", "error", err)
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- a.videoHTTP.Serve() }()
	swept := make(chan error, 1)
	go func() { swept <- a.origin.Run(ctx) }()
	select {
	case err := <-ended:
		if err == nil {
			err = errVideoServerEnded
		}
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), videoStopTimeout)
	defer cancel()
	// The stop timeout cuts off unfinished uploads. The encoder sends their segments again to the next origin.
	if err := a.videoHTTP.Stop(stop); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		a.log.Warn("video server shutdown failed", "error", err)
	}
	_, _ = <-ended, <-swept
	return ctx.Err()
}

var errVideoServerEnded = errors.New("the video server stopped unexpectedly")

// OriginAddr returns the address of the video server. It is empty while this hub is not the origin.
func (a *App) OriginAddr() string {
	if at := a.videoAddr.Load(); at != nil {
		return *at
	}
	return ""
}
