// Saturated TCP flows over a dumbbell, for the cost of a packet-hop in ns-3.
//
// dumbbell FLOWS RATE QUEUE SECONDS SEED prints the number of packet-hops (a packet that has crossed a link), the goodput
// in Mbit/s and the share of packets that the middle link dropped. Counting is a call per packet: nothing beside the rest.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

using namespace ns3;

namespace
{

const uint32_t segment = 1460;
const uint32_t window = 685 * segment;

uint64_t hops = 0;
uint64_t queued = 0;
uint64_t dropped = 0;

void
Count(uint64_t* what, Ptr<const Packet>)
{
    ++*what;
}

// What the other simulators run, too: SACK without timestamps, every segment acknowledged, 1460 bytes in packets of 1500.
void
ChooseTcp()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    // The send buffer bounds the window. If the receiver's does, without timestamps, ns-3.37 ends in
    // TcpRateLinux::SkbSent with a null pointer.
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(10 * window));
}

// A link whose only queue is that of its devices.
Ipv4Address
Join(const PointToPointHelper& link, Ptr<Node> from, Ptr<Node> to, Ipv4AddressHelper& addresses)
{
    const NetDeviceContainer devices = PointToPointHelper(link).Install(from, to);
    const Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    addresses.NewNetwork();
    TrafficControlHelper().Uninstall(devices);
    return interfaces.GetAddress(1);
}

PointToPointHelper
Link(const std::string& rate, const std::string& delay, const std::string& queue)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", StringValue(delay));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(queue));
    return link;
}

} // namespace

int
main(int argc, char* argv[])
{
    if (argc != 6)
    {
        std::cerr << "usage: dumbbell FLOWS RATE QUEUE SECONDS SEED\n";
        return 2;
    }
    const uint32_t flows = std::atoi(argv[1]);
    const double seconds = std::atof(argv[4]);
    RngSeedManager::SetRun(std::atoi(argv[5]));
    ChooseTcp();

    NodeContainer routers(2);
    NodeContainer senders(flows);
    NodeContainer receivers(flows);
    InternetStackHelper().Install(NodeContainer(routers, senders, receivers));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    Join(Link(argv[2], "10ms", argv[3]), routers.Get(0), routers.Get(1), addresses);

    const PointToPointHelper access = Link("10Gbps", "0ms", "10000p");
    auto starts = CreateObject<UniformRandomVariable>();
    ApplicationContainer sinks;
    for (uint32_t i = 0; i < flows; ++i)
    {
        Join(access, senders.Get(i), routers.Get(0), addresses);
        const Ipv4Address to = Join(access, routers.Get(1), receivers.Get(i), addresses);
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(to, 5000));
        source.SetAttribute("SendSize", UintegerValue(segment));
        source.Install(senders.Get(i)).Start(Seconds(starts->GetValue(0.0, 1.0)));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
        sinks.Add(sink.Install(receivers.Get(i)));
    }
    sinks.Start(Seconds(0.0));
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    const std::string devices = "/NodeList/*/DeviceList/*/$ns3::PointToPointNetDevice/";
    Config::ConnectWithoutContext(devices + "PhyRxEnd", MakeBoundCallback(&Count, &hops));
    // Device 0 is the loopback. A device stops what is above it when its queue is full, so that packets are dropped there.
    auto middle = routers.Get(0)->GetDevice(1)->GetObject<PointToPointNetDevice>()->GetQueue();
    middle->TraceConnectWithoutContext("Enqueue", MakeBoundCallback(&Count, &queued));
    routers.Get(0)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext("TcDrop",
                                                                                 MakeBoundCallback(&Count, &dropped));
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();

    uint64_t delivered = 0;
    for (uint32_t i = 0; i < flows; ++i)
    {
        delivered += sinks.Get(i)->GetObject<PacketSink>()->GetTotalRx();
    }
    std::cout << hops << " " << 8e-6 * delivered / seconds << " "
              << static_cast<double>(dropped) / (queued + dropped) << "\n";
    Simulator::Destroy();
    return 0;
}
