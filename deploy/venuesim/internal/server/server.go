package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/run"
)

const maxMarkets = 100_000

// Config is the configuration of the simulator.
type Config struct {
	Addr string           `env:"HTTP_ADDR" envDefault:"127.0.0.1:8090"`
	Data Folders          `env:"VENUE_SIM_DATA"`
	Seed uint64           `env:"VENUE_SIM_SEED" envDefault:"1"`
	Size int              `env:"VENUE_SIM_MARKETS" envDefault:"3000"` // number of open invented markets of Polymarket
	Now  func() time.Time `env:"-"`
}

// Check implements config.Checker.
func (c *Config) Check(r *config.Report) {
	if c.Size < 1 || c.Size > maxMarkets {
		r.Fail("VENUE_SIM_MARKETS", fmt.Sprintf("must be a whole number from 1 to %d", maxMarkets))
	}
}

// Folders are the folders with recorded responses of venues. Colons separate them in the setting.
type Folders []string

// UnmarshalText implements encoding.TextUnmarshaler.
func (f *Folders) UnmarshalText(text []byte) error {
	*f = strings.FieldsFunc(string(text), func(r rune) bool { return r == ':' })
	return nil
}

// Run serves requests until ctx ends or the process receives a signal. It writes one line with the URL of the listener to out.
func Run(ctx context.Context, c Config, out io.Writer) error {
	h, err := Handler(c)
	if err != nil {
		return err
	}
	base, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	log := slog.New(slog.DiscardHandler)
	// The write timeout must be longer than a request hangs in mode hang.
	server := httpx.NewServer(c.Addr, h, httpx.Limits{ReadHeader: 5 * time.Second, Read: 30 * time.Second, Write: 24 * time.Hour, Idle: 2 * time.Minute}, log)
	server.Join(func(l net.Listener) net.Listener { return l }, func(context.Context, net.Conn) context.Context { return base })
	return run.Run(ctx, run.Options{
		Log:   log,
		Up:    func() { _, _ = fmt.Fprintf(out, "venuesim listening on http://%s\n", server.Addr()) },
		Drain: stop, // ends requests that hang in mode hang
	}, run.Of("http", server))
}
