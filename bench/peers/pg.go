// A client of PostgreSQL by pgx, beside ../pg_eddy.c: ./dev bench pg.
//
//	pg CONNINFO row|pipeline|update TASKS CONNECTIONS SECONDS
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v4"
	"github.com/jackc/pgx/v4/pgxpool"
)

const (
	row      = "select id, name, price, stock from items where id = $1"
	update   = "update items set stock = stock + 1 where id = $1"
	items    = 10000
	pipeline = 20
	warmUp   = 500 * time.Millisecond
)

type item struct {
	id    int64
	name  string
	price float64
	stock int64
}

var number uint64

func nextKey() int64 {
	return 1 + int64((atomic.AddUint64(&number, 1)*7919)%items)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "pg.go:", err)
		os.Exit(1)
	}
}

func askOne(ctx context.Context, pool *pgxpool.Pool) {
	var it item
	key := nextKey()
	must(pool.QueryRow(ctx, row, key).Scan(&it.id, &it.name, &it.price, &it.stock))
	if it.id != key {
		panic("another row")
	}
}

func askMany(ctx context.Context, pool *pgxpool.Pool) {
	batch := &pgx.Batch{}
	for i := 0; i < pipeline; i++ {
		batch.Queue(row, nextKey())
	}
	results := pool.SendBatch(ctx, batch)
	for i := 0; i < pipeline; i++ {
		var it item
		must(results.QueryRow().Scan(&it.id, &it.name, &it.price, &it.stock))
	}
	must(results.Close())
}

func updateOne(ctx context.Context, pool *pgxpool.Pool) {
	_, err := pool.Exec(ctx, update, nextKey())
	must(err)
}

func cpu() int64 {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func main() {
	call := map[string]func(context.Context, *pgxpool.Pool){"row": askOne, "pipeline": askMany, "update": updateOne}[os.Args[2]]
	tasks, err := strconv.Atoi(os.Args[3])
	must(err)
	connections, err := strconv.Atoi(os.Args[4])
	must(err)
	seconds, err := strconv.ParseFloat(os.Args[5], 64)
	must(err)
	config, err := pgxpool.ParseConfig(os.Args[1])
	must(err)
	config.MaxConns = int32(connections)
	ctx := context.Background()
	pool, err := pgxpool.ConnectConfig(ctx, config)
	must(err)

	var calls, ended int64
	var group sync.WaitGroup
	for i := 0; i < tasks; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for atomic.LoadInt64(&ended) == 0 {
				call(ctx, pool)
				atomic.AddInt64(&calls, 1)
			}
		}()
	}
	time.Sleep(warmUp)
	began, cpuBegan, callsBegan := time.Now(), cpu(), atomic.LoadInt64(&calls)
	time.Sleep(time.Duration(seconds * float64(time.Second)))
	count := atomic.LoadInt64(&calls) - callsBegan
	cpuNs, wallNs := cpu()-cpuBegan, time.Since(began).Nanoseconds()
	atomic.StoreInt64(&ended, 1)
	group.Wait()
	fmt.Printf("{\"cpu_ns\": %.3f, \"wall_ns\": %.3f, \"count\": %d}\n", float64(cpuNs)/float64(count), float64(wallNs)/float64(count), count)
}
