static inline unsigned mixed(unsigned word)
{
    for (int round = 0; round < 5; round++)
        word = (word ^ word >> 15) * 0x2c1b3c6du;
    return word;
}
