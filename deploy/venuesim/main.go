package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/server"
	"github.com/signalcast/signalcast/pkg/config"
)

func main() {
	config, err := config.Load[server.Config]()
	if err != nil {
		fmt.Fprintln(os.Stderr, "venuesim:", err)
		os.Exit(2)
	}
	config.Now = time.Now
	if err := server.Run(context.Background(), config, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "venuesim:", err)
		os.Exit(1)
	}
}
