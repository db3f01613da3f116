package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/signalcast/signalcast/deploy/devidp/internal/server"
	"github.com/signalcast/signalcast/pkg/config"
)

func main() {
	config, err := config.Load[server.Config]()
	if err != nil {
		fmt.Fprintln(os.Stderr, "devidp:", err)
		os.Exit(2)
	}
	config.Now = time.Now
	if err := server.Run(context.Background(), config, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "devidp:", err)
		os.Exit(1)
	}
}
