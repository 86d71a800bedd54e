// The receiver of tanks.c in C#, as a program for .NET or a script for Unity. Not built here: there was no .NET.
//
//   dotnet run -- PORT SCHEMA       with libwirelab.so, libwirelab.dylib or libwirelab.dll beside the program
using System;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Text;

static class Wirelab
{
    const string Library = "libwirelab";

    // Texts are UTF-8 and end with a zero byte. Functions as in wirelab_endpoint.h.
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int wirelab_version();
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int wirelab_sender(byte[] schema, byte[] encoder, byte[] options, byte[] error, int errorRoom);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int wirelab_receiver(byte[] schema, byte[] options, byte[] error, int errorRoom);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int wirelab_close(int handle);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int wirelab_rows(int handle);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int wirelab_fields(int handle);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int wirelab_tick_hz(int handle);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int wirelab_field(int handle, byte[] name);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern double wirelab_step(int handle, int field);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int wirelab_send(int handle, long nowUs, int[] state, byte[] packet, int room);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int wirelab_set_budget(int handle, long bitsPerSecond, long intervalUs);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int wirelab_handle_ack(int handle, long nowUs, byte[] ack, int size);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int wirelab_receive(int handle, long nowUs, byte[] packet, int size, int[] state);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int wirelab_make_ack(int handle, long nowUs, byte[] ack, int room);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern long wirelab_sequence(int handle);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern long wirelab_acked(int handle);
    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int wirelab_error(int handle, byte[] text, int room);

    public static byte[] Text(string s) => Encoding.UTF8.GetBytes(s + "\0");
    public static string FromText(byte[] b) => Encoding.UTF8.GetString(b, 0, Math.Max(Array.IndexOf(b, (byte)0), 0));
}

static class Tanks
{
    const int Rows = 40, Fields = 4;

    // World writes the state of packet n, as in tanks.c.
    static void World(long n, int[] state)
    {
        for (long i = 0; i < Rows; i++)
        {
            long moved = i % 4 == 0 ? n * (20 + i) : 0;
            state[4 * i] = (int)((900 * i + moved) % 65536);
            state[4 * i + 1] = (int)(20000 + moved / 7 % 500);
            state[4 * i + 2] = (int)((9 * i + moved / 50) % 360);
            state[4 * i + 3] = (int)((n + i) / 10 % 2);
        }
    }

    static long NowUs() => System.Diagnostics.Stopwatch.GetTimestamp() * 1_000_000 / System.Diagnostics.Stopwatch.Frequency;

    static void Main(string[] args)
    {
        var error = new byte[500];
        int receiver = Wirelab.wirelab_receiver(Wirelab.Text(File.ReadAllText(args[1])), Wirelab.Text(""), error, error.Length);
        if (receiver < 0) throw new Exception(Wirelab.FromText(error));
        if (Wirelab.wirelab_rows(receiver) != Rows || Wirelab.wirelab_fields(receiver) != Fields) throw new Exception("the schema is of another game");
        var state = new int[Rows * Fields];
        var expected = new int[Rows * Fields];
        var ack = new byte[256];
        int states = 0, wrong = 0;
        using var socket = new UdpClient(new IPEndPoint(IPAddress.Loopback, int.Parse(args[0])));
        socket.Client.ReceiveTimeout = 60_000; // milliseconds; the first packet may take longer
        try
        {
            while (true)
            {
                var from = new IPEndPoint(IPAddress.Any, 0);
                byte[] packet = socket.Receive(ref from);
                socket.Client.ReceiveTimeout = 2_000;
                if (Wirelab.wirelab_receive(receiver, NowUs(), packet, packet.Length, state) == 1) // others are old or malformed
                {
                    World(Wirelab.wirelab_sequence(receiver), expected);
                    states++;
                    if (!state.AsSpan().SequenceEqual(expected)) wrong++;
                }
                int size = Wirelab.wirelab_make_ack(receiver, NowUs(), ack, ack.Length);
                if (size > 0) socket.Send(ack, size, from);
            }
        }
        catch (SocketException e) when (e.SocketErrorCode == SocketError.TimedOut)
        {
        }
        Wirelab.wirelab_close(receiver);
        Console.WriteLine($"{states} states, {wrong} wrong");
    }
}
