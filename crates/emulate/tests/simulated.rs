//! An association between a simulated host and a real host (an endpoint of the crate `io`).
#![cfg(target_os = "linux")]

mod common;

use common::{Emulation, SOON, endpoint, local, sockets};

/// A real and a simulated host, and a flow from one to the other.
fn scenario(real: &str, client: &str, server: &str) -> String {
    format!(
        "[[node]]\nname = \"real\"\n[[node]]\nname = \"simulated\"\n\
         [[link]]\nbetween = [\"real\", \"simulated\"]\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\n\
         [[host]]\nname = \"real\"\nreal = {{ udp = {real} }}\n\
         [[flow]]\nname = \"flow\"\nclient = \"{client}\"\nserver = \"{server}\"\nudp_encapsulation = true\n\
         frame_rate = \"100 Hz\"\nframe_size = \"800 B\"\nstart_time = \"0 s\"\n"
    )
}

#[test]
fn a_simulated_host_answers_a_real_one() {
    let client = endpoint(&[local(31)], Some(9000));
    let emulation = Emulation::start(&scenario(&sockets(&[local(31)], &client), "real", "simulated"));
    let address = emulation.address("simulated");
    let peer = emulation.peer("simulated", vec![address.ip()], 9000);
    let connection = client.connect_timeout(peer, SOON).expect("connects in time");
    for _ in 0..50 {
        connection.send(vec![1; 5000]).expect("is open");
    }
    connection.flush().expect("all is acknowledged by the simulated host");
    drop(connection);
    let outcome = emulation.stop();
    assert!(outcome.entered > 150 && outcome.left > 50, "{}", outcome.render());
}

#[test]
fn a_simulated_client_connects_to_a_real_server_and_sends() {
    let server = endpoint(&[local(32)], Some(9000));
    let listener = server.listen(1);
    let emulation = Emulation::start(&scenario(&sockets(&[local(32)], &server), "simulated", "real"));
    let connection = listener.accept_timeout(SOON).expect("accepts in time");
    for _ in 0..20 {
        let message = connection.recv_timeout(SOON).expect("in time").expect("is open");
        assert_eq!(message.data.len(), 800);
    }
    emulation.stop();
}
