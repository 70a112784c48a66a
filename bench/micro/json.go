// The texts of json.c by Go's encoding/json.
//
//	json read|write ITEMS SECONDS
//
// A count is of KiB.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

type item struct {
	ID    int64   `json:"id"`
	Name  string  `json:"name"`
	Text  string  `json:"text"`
	Price float64 `json:"price"`
	Sold  bool    `json:"sold"`
}

type page struct {
	Total int64  `json:"total"`
	Items []item `json:"items"`
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "json.go:", err)
		os.Exit(1)
	}
}

func cpu() int64 {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func makePage(count int) page {
	made := page{Total: 123456}
	for i := 0; i < count; i++ {
		text := "plain words"
		if i%4 == 0 {
			text = "two\nlines, and ä"
		}
		made.Items = append(made.Items, item{1000000 + int64(i), "a name of usual length", text, 0.25 + float64(i), i%2 == 1})
	}
	return made
}

func main() {
	count, err := strconv.Atoi(os.Args[2])
	must(err)
	seconds, err := strconv.ParseFloat(os.Args[3], 64)
	must(err)
	made := makePage(count)
	text, err := json.Marshal(made)
	must(err)
	once := func() {
		_, err := json.Marshal(made)
		must(err)
	}
	if os.Args[1] == "read" {
		once = func() {
			var read page
			must(json.Unmarshal(text, &read))
		}
	}
	// A tenth of the time is warm-up.
	for _, enough := range []float64{seconds / 10, seconds} {
		bytes, began, wall := 0, cpu(), time.Now()
		for float64(cpu()-began) < enough*1e9 || bytes < 1024 {
			for i := 0; i < 1+10000/count; i++ {
				once()
				bytes += len(text)
			}
		}
		if enough == seconds {
			kib := float64(bytes) / 1024
			fmt.Printf("{\"cpu_ns\": %.3f, \"wall_ns\": %.3f, \"count\": %.0f}\n", float64(cpu()-began)/kib, float64(time.Since(wall).Nanoseconds())/kib, kib)
		}
	}
}
