package client_test

import (
	"context"
	"fmt"
	"log"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/client"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

// A program that used an engine of its own uses the shared daemon by another first line.
func ExampleConnect() {
	ctx := context.Background()
	rt, err := client.Connect(ctx, config.Default())
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Close() // the daemon goes on
	hover, err := rt.Hover(ctx, messages.Document{Project: "/home/me/hello", File: "main.go"}, messages.Position{Line: 3, Character: 7})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(hover.Text)
}
