package e2e

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

var updatePictures = flag.Bool("update-pictures", false, "write the pictures of docs/img anew")

func TestMain(m *testing.M) {
	code := m.Run()
	closeBrowser()
	if err := stopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
