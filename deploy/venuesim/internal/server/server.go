package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	shutdownTimeout = 3 * time.Second // for requests that are being answered
	mostMarkets     = 100_000
)

// Config is the configuration of the simulator.
type Config struct {
	Addr string   // HTTP_ADDR
	Data []string // VENUE_SIM_DATA: folders of recorded answers
	Seed uint64   // VENUE_SIM_SEED
	Size int      // VENUE_SIM_MARKETS: open invented markets of Polymarket; 0: the default
	Now  func() time.Time
}

// FromEnv reads the configuration from the environment.
func FromEnv(getenv func(string) string, now func() time.Time) (Config, error) {
	c := Config{Addr: getenv("HTTP_ADDR"), Seed: 1, Now: now}
	if c.Addr == "" {
		c.Addr = "127.0.0.1:8090"
	}
	for dir := range strings.SplitSeq(getenv("VENUE_SIM_DATA"), ":") {
		if dir != "" {
			c.Data = append(c.Data, dir)
		}
	}
	if text := getenv("VENUE_SIM_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return c, fmt.Errorf("VENUE_SIM_SEED must be a whole number from 0 up, not %q", text)
		}
		c.Seed = seed
	}
	if text := getenv("VENUE_SIM_MARKETS"); text != "" {
		size, err := strconv.Atoi(text)
		if err != nil || size < 1 || size > mostMarkets {
			return c, fmt.Errorf("VENUE_SIM_MARKETS must be a whole number from 1 to %d, not %q", mostMarkets, text)
		}
		c.Size = size
	}
	return c, nil
}

// Run serves until ctx ends. It prints one line with its address to out.
func Run(ctx context.Context, c Config, out io.Writer) error {
	h, err := Handler(c)
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	base, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	srv := &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
		BaseContext: func(net.Listener) context.Context { return base },
	}
	if _, err := fmt.Fprintf(out, "venuesim listening on http://%s\n", ln.Addr()); err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	stop() // ends requests that hang on purpose
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := srv.Shutdown(end); err != nil {
		_ = srv.Close()
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
