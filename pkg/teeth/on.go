//go:build teeth

package teeth

import "os"

// planted is the one fault of this process.
var planted = func() string {
	if os.Getenv("ENV") == "production" {
		return ""
	}
	return os.Getenv("TEETH")
}()

// Bites tells whether the named fault is planted.
func Bites(name string) bool { return planted != "" && name == planted }
