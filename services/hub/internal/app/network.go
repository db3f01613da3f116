package app

import (
	"time"

	"github.com/signalcast/signalcast/pkg/conf"
)

// NetworkConfig is how the rows of partner stations are read.
type NetworkConfig struct {
	Private bool          `env:"FEDERATION_ALLOW_PRIVATE"`                  // partners may be at http and private addresses
	Every   time.Duration `env:"FEDERATION_EVERY"         envDefault:"60s"` // between two reads of a partner
	Keep    time.Duration `env:"FEDERATION_KEEP"          envDefault:"10m"` // while a partner that fails is still shown
}

// check is part of Config.Check.
func (c *NetworkConfig) check(r *conf.Report) {
	if c.Private && r.Env().Production() {
		r.Fail("FEDERATION_ALLOW_PRIVATE", "must not be set in production")
	}
	if c.Every < time.Second || c.Every > 10*time.Minute {
		r.Fail("FEDERATION_EVERY", "must be from 1s to 10m")
	}
	if c.Keep < c.Every || c.Keep > 24*time.Hour {
		r.Fail("FEDERATION_KEEP", "must be from FEDERATION_EVERY to 24h")
	}
}
