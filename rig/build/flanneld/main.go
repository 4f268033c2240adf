// Command flanneld is flannel's daemon with the two backends that the rig offers, VXLAN and
// host-gw. Flannel's own program links further ones, whose modules are not all to be had.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/big"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/flannel-io/flannel/pkg/backend"
	_ "github.com/flannel-io/flannel/pkg/backend/hostgw"
	_ "github.com/flannel-io/flannel/pkg/backend/vxlan"
	"github.com/flannel-io/flannel/pkg/ip"
	"github.com/flannel-io/flannel/pkg/ipmatch"
	"github.com/flannel-io/flannel/pkg/subnet/kube"
	"github.com/flannel-io/flannel/pkg/trafficmngr/iptables"
)

const (
	annotations = "flannel.alpha.coreos.com" // flannel's own default
	checkSecond = 30                         // its rules are looked at again so often
)

var (
	kubeconfig = flag.String("kubeconfig", "", "how to reach the Kubernetes API")
	network    = flag.String("network", "", "file with the network's range and backend, JSON")
	device     = flag.String("device", "eth0", "network device towards the other nodes")
	subnetFile = flag.String("subnet-file", "", "where the node's range and MTU are written")
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "flanneld:", err)
		os.Exit(1)
	}
}

// run joins this node to the network and keeps its routes until the context ends.
func run(ctx context.Context) error {
	manager, err := kube.NewSubnetManager(ctx, "", *kubeconfig, annotations, *network, true)
	if err != nil {
		return fmt.Errorf("the Kubernetes API: %w", err)
	}
	config, err := manager.GetNetworkConfig(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", *network, err)
	}
	family, err := ipmatch.GetIPFamily(config.EnableIPv4, config.EnableIPv6)
	if err != nil {
		return err
	}
	link, err := ipmatch.LookupExtIface(*device, "", "", family, ipmatch.PublicIPOpts{})
	if err != nil {
		return fmt.Errorf("%s: %w", *device, err)
	}
	kind, err := backend.NewManager(ctx, manager, link).GetBackend(config.BackendType)
	if err != nil {
		return err
	}
	var workers sync.WaitGroup
	joined, err := kind.RegisterNetwork(ctx, &workers, config)
	if err != nil {
		return fmt.Errorf("backend %s: %w", config.BackendType, err)
	}
	none4, none6 := ip.IP4Net{}, ip.IP6Net{IP: (*ip.IP6)(big.NewInt(0))}
	rules := &iptables.IPTablesManager{}
	if err := rules.Init(ctx); err != nil {
		return fmt.Errorf("iptables: %w", err)
	}
	lease := joined.Lease()
	if err := rules.SetupAndEnsureMasqRules(ctx, config.Network, none4, none4, config.IPv6Network,
		none6, none6, lease, checkSecond, false); err != nil {
		return fmt.Errorf("iptables: %w", err)
	}
	rules.SetupAndEnsureForwardRules(ctx, config.Network, config.IPv6Network, checkSecond)
	if err := manager.HandleSubnetFile(*subnetFile, config, true, lease.Subnet, lease.IPv6Subnet,
		joined.MTU()); err != nil {
		return fmt.Errorf("%s: %w", *subnetFile, err)
	}
	workers.Add(1)
	go func() {
		defer workers.Done()
		joined.Run(ctx)
	}()
	if err := manager.CompleteLease(ctx, lease, &workers); err != nil {
		return fmt.Errorf("lease: %w", err)
	}
	workers.Wait()
	return nil
}
