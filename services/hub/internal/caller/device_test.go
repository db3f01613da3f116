package caller

import (
	"strings"
	"testing"
)

func TestDeviceOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		agent, ip string
		want      Device
	}{
		{
			"Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36",
			"203.0.113.77",
			Device{"Chrome on Android", "203.0.113.0/24"},
		},
		{
			"Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0",
			"2001:db8:1:2::3",
			Device{"Firefox on Linux", "2001:db8:1::/48"},
		},
		{"curl/8.5.0", "::ffff:203.0.113.77", Device{"Other browser", "203.0.113.0/24"}},
		{"", "", Device{"Other browser", ""}},
		{"Mozilla/5.0 (X11; Linux x86_64) \xff\xfeBrowser/1.0", "", Device{"Other browser", ""}},
		{"Mozilla/5.0 (X11; Linux x86_64) B\u202erowser/1.0", "", Device{"Other browser", ""}},
		{strings.Repeat("Mozilla/5.0 (", 5000), "not an address", Device{"Other browser", ""}},
	} {
		if got := DeviceOf(test.agent, test.ip); got != test.want {
			t.Errorf("DeviceOf(%.60q, %q) = %+v, want %+v", test.agent, test.ip, got, test.want)
		}
	}
}
