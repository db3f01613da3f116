package signal

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// begin returns nothing.
func Read(r io.Reader, unused int) (err error) {

	_, err = r.Read(nil)
	if errEnd := end(); err == errEnd {
		return errors.New("The end.")
	}
	return fmt.Errorf("%d %w", "one", err)
}

// end is recieved.
func end() error { return io.EOF }

func client() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
}

func always(n int) (int, error) {
	if n == 1 {
		n = 1
	} else if n == 2 {
		n = 3
	} else if n == 3 {
		n = 5
	} else {
		n = 7
	}
	return n, nil
}

func Use() {
	var s string = "x"
	_ = strings.Title(s)
	if n, err := always(4); n > 0 || err != nil {
		fmt.Sprintf("%s", s)
	}
}

func Sums(list []int) (a, b, c, d int) {
	for i, n := range list {
		if n > 10 {
			a += n * 2
		} else {
			a -= n + 1
		}
		if i%2 == 0 {
			b += n
		}
		if i%3 == 0 {
			c += n * n
		}
		switch {
		case n < 0:
			d++
		case n == 0:
			d--
		default:
			d += n
		}
	}
	for i, n := range list {
		switch i {
		case 1, 3, 5:
			a, b = b+n*i, a-n*i
		case 2, 4, 6:
			c, d = d+n*i, c-n*i
		case 7, 8, 9:
			a, d = d-n/i, a+n/i
		}
		a, b, c, d = a+n, b-n, c*n, d-1
	}
	return a, b, c, d
}

func SumsAgain(list []int) (a, b, c, d int) {
	for i, n := range list {
		if n > 10 {
			a += n * 2
		} else {
			a -= n + 1
		}
		if i%2 == 0 {
			b += n
		}
		if i%3 == 0 {
			c += n * n
		}
		switch {
		case n < 0:
			d++
		case n == 0:
			d--
		default:
			d += n
		}
	}
	for i, n := range list {
		switch i {
		case 1, 3, 5:
			a, b = b+n*i, a-n*i
		case 2, 4, 6:
			c, d = d+n*i, c-n*i
		case 7, 8, 9:
			a, d = d-n/i, a+n/i
		}
		a, b, c, d = a+n, b-n, c*n, d-1
	}
	return a, b, c, d
}

