"""Find and drive the compilers: NVRTC, nvcc, the host C++ compiler; what their resource reports mean on which device."""
